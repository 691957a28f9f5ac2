// Keys of the big screen.

export type ScreenAction = 'pause' | 'next' | 'previous' | 'full-screen';

const ACTIONS: { [key: string]: ScreenAction } = { ' ': 'pause', ArrowRight: 'next', ArrowDown: 'next', ArrowLeft: 'previous', ArrowUp: 'previous', f: 'full-screen', F: 'full-screen' };

/** Action of a key, or undefined. Space presses a focused button; a text field keeps all keys. */
export function actionOf(event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'altKey' | 'metaKey'>, focused: { tagName: string } | null): ScreenAction | undefined {
  if (event.ctrlKey || event.altKey || event.metaKey) return undefined;
  const tag = focused?.tagName ?? '';
  if (['INPUT', 'SELECT', 'TEXTAREA'].includes(tag)) return undefined;
  if (event.key === ' ' && (tag === 'BUTTON' || tag === 'A')) return undefined;
  return ACTIONS[event.key];
}
