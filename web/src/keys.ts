// Keyboard shortcuts. A viewer handles keys that are pressed inside it. The first viewer of a page also handles keys that are
// pressed while no control has the focus.

import type { Playback } from './playback.svelte';

export function handleKey(event: KeyboardEvent, root: HTMLElement, playback: Playback, goToFault: (direction: 1 | -1) => void): void {
  if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
  const target = event.target instanceof Element ? event.target : document.body;
  // After navigation the heading has the focus so that screen readers announce it.
  const unfocused = target === document.body || target === document.documentElement || target.matches('h1[tabindex="-1"], main[tabindex="-1"]');
  if (!root.contains(target) && !(unfocused && document.querySelector('.agon-replay') === root)) return;
  const kind = target instanceof HTMLInputElement ? target.type : target.tagName.toLowerCase();
  if (kind === 'text' || kind === 'select' || kind === 'textarea') return;
  const action = shortcuts(playback, goToFault)[event.key];
  if (!action) return;
  // Space still presses a focused button or checkbox.
  if (event.key === ' ' && (kind === 'button' || kind === 'checkbox')) return;
  event.preventDefault();
  action();
}

function shortcuts(playback: Playback, goToFault: (direction: 1 | -1) => void): { [key: string]: () => void } {
  return {
    ' ': () => playback.toggle(),
    ArrowLeft: () => playback.step(-1),
    ArrowRight: () => playback.step(1),
    Home: () => playback.seek(0),
    End: () => playback.seek(playback.last),
    '+': () => playback.changeSpeed(1),
    '=': () => playback.changeSpeed(1),
    '-': () => playback.changeSpeed(-1),
    f: () => goToFault(1),
    F: () => goToFault(-1),
  };
}
