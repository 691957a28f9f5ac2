// The keyboard. A key counts when it is pressed in the viewer, or nowhere in particular and this is the page's first viewer.

import type { Playback } from './playback.svelte';

export function handleKey(event: KeyboardEvent, root: HTMLElement, playback: Playback, fault: (direction: 1 | -1) => void): void {
  if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
  const target = event.target instanceof Element ? event.target : document.body;
  // A heading has the focus for being read, when a page was come to by a link.
  const nowhere = target === document.body || target === document.documentElement || target.matches('h1[tabindex="-1"], main[tabindex="-1"]');
  if (!root.contains(target) && !(nowhere && document.querySelector('.agon-replay') === root)) return;
  const kind = target instanceof HTMLInputElement ? target.type : target.tagName.toLowerCase();
  if (kind === 'text' || kind === 'select' || kind === 'textarea') return;
  const action = actions(playback, fault)[event.key];
  if (!action) return;
  // What has its own meaning for the key keeps it: a button is pressed by Space, a slider is moved by arrows.
  if (event.key === ' ' && (kind === 'button' || kind === 'checkbox')) return;
  event.preventDefault();
  action();
}

function actions(playback: Playback, fault: (direction: 1 | -1) => void): { [key: string]: () => void } {
  return {
    ' ': () => playback.toggle(),
    ArrowLeft: () => playback.step(-1),
    ArrowRight: () => playback.step(1),
    Home: () => playback.seek(0),
    End: () => playback.seek(playback.last),
    '+': () => playback.hurry(1),
    '=': () => playback.hurry(1),
    '-': () => playback.hurry(-1),
    f: () => fault(1),
    F: () => fault(-1),
  };
}
