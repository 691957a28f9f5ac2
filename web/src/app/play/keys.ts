// Keys of a person who plays: the keys of the game, arrows over the board, and letters of the second step.

import type { GameInput, InputTarget } from '../../games/types';
import type { PlayAsk } from '../types';
import { nextTarget, type Direction } from './targets';

const NAMES: { [name: string]: string } = {
  up: 'ArrowUp',
  down: 'ArrowDown',
  left: 'ArrowLeft',
  right: 'ArrowRight',
  '↑': 'ArrowUp',
  '↓': 'ArrowDown',
  '←': 'ArrowLeft',
  '→': 'ArrowRight',
  space: ' ',
};
const DIRECTIONS: { [key: string]: Direction } = { ArrowLeft: 'left', ArrowRight: 'right', ArrowUp: 'up', ArrowDown: 'down' };

/** `KeyboardEvent.key` of a key in a request. */
export const domKey = (key: string): string => NAMES[key.toLowerCase()] ?? key;

export interface KeyContext {
  ask: PlayAsk | undefined;
  /** The last request, while the person waits. */
  previous: PlayAsk | undefined;
  input: GameInput | undefined;
  targets: InputTarget[];
  /** Id of the selected target. */
  current: string | undefined;
  /** The second step is open for these answers. */
  opened: string[] | undefined;
}

export type KeyAction =
  | { do: 'answer'; answer: string }
  | { do: 'point'; target: InputTarget }
  | { do: 'choose'; target: InputTarget }
  | { do: 'close' }
  /** The key belongs to the game, but has no effect now. It must not move the replay either. */
  | { do: 'nothing' };

const sameKey = (a: string, b: string): boolean => a === b || (a.length === 1 && a.toLowerCase() === b.toLowerCase());

/** What a key does, or undefined if it does not belong to the game. */
export function keyAction(key: string, context: KeyContext): KeyAction | undefined {
  const { ask, targets, current, opened } = context;
  if (!ask) return isGameKey(key, context) ? { do: 'nothing' } : undefined;
  const letter = letterAction(key, context);
  if (letter) return letter;
  if (opened !== undefined && key === 'Escape') return { do: 'close' };
  const own = ask.request.keys.find((one) => sameKey(domKey(one.key), key));
  if (own) return { do: 'answer', answer: own.answer };
  const direction = DIRECTIONS[key];
  if (direction) {
    const target = opened === undefined ? nextTarget(targets, current, direction) : undefined;
    return target ? { do: 'point', target } : { do: 'nothing' };
  }
  if (key === 'Enter') {
    const target = targets.find((one) => one.id === current);
    return target ? { do: 'choose', target } : undefined;
  }
  return isGameKey(key, context) ? { do: 'nothing' } : undefined;
}

/** Keys that belong to the game even while they have no effect. They must not move the replay. */
function isGameKey(key: string, { ask, previous, input }: KeyContext): boolean {
  const keys = (ask ?? previous)?.request.keys ?? [];
  return key in DIRECTIONS || keys.some((one) => sameKey(domKey(one.key), key)) || (input?.choice !== undefined && /^[a-z]$/i.test(key));
}

/** The key of an answer among those of the open or selected target: `q` for `Q17`. */
function letterAction(key: string, { input, targets, current, opened }: KeyContext): KeyAction | undefined {
  const answers = opened ?? targets.find((target) => target.id === current)?.answers ?? [];
  if (!input?.choice || answers.length < 2 || key.length !== 1) return undefined;
  const answer = answers.find((one) => sameKey(input.choice?.(one) ?? '', key));
  return answer === undefined ? undefined : { do: 'answer', answer };
}
