// The viewer's one global: `Agon`. Every `<div class="agon-replay">` that holds its film in a script element is filled by itself;
// others are filled by `Agon.replay(element, film)`.

import { mount, unmount } from 'svelte';
import { en } from './en';
import { problem, type Film, type Part } from './film';
import { gameView } from './games';
import Replay from './Replay.svelte';

export interface Handle {
  /** Goes to a turn. */
  seek(turn: number): void;
  /**
   * Adds what was played since, to a film that is live. False where turns before these are missing (or nothing is shown): then show the
   * film anew.
   */
  append(part: Part): boolean;
  /** Takes the viewer away. */
  destroy(): void;
}

/**
 * Shows a film in an element. On the element: `data-hash="off"` leaves the page's address alone, `data-start="12"` is the turn to begin
 * with, `data-theme="dark"` or `"light"` overrides what the reader's machine prefers.
 */
export function replay(element: HTMLElement, film: unknown): Handle {
  element.classList.add('agon-replay');
  element.dataset.filled = 'yes';
  element.replaceChildren();
  const wrong = problem(film);
  if (wrong) return say(element, wrong === 'newer' ? en.newer : en.notAFilm);
  const shown = film as Film;
  const view = gameView(shown.game);
  if (!view) return say(element, en.unknownGame(shown.game));
  // The page's address can name the moment of one film only: the first one.
  const hash = element.dataset.hash !== 'off' && document.querySelector('.agon-replay') === element;
  const start = element.dataset.start === undefined ? undefined : Number(element.dataset.start) || 0;
  const app = mount(Replay, { target: element, props: { film: shown, view, root: element, hash, start } });
  return {
    seek: (turn) => app.seek(turn),
    append: (part) => app.append(part),
    destroy: () => {
      void unmount(app);
      delete element.dataset.filled;
    },
  };
}

function say(element: HTMLElement, text: string): Handle {
  const words = document.createElement('p');
  words.setAttribute('role', 'alert');
  words.textContent = text;
  element.replaceChildren(words);
  return { seek: () => undefined, append: () => false, destroy: () => element.replaceChildren() };
}

function fillAll(): void {
  for (const element of document.querySelectorAll<HTMLElement>('.agon-replay:not([data-filled])')) {
    const data = element.querySelector('script[type="application/json"]')?.textContent;
    if (data == null) continue;
    let film: unknown;
    try {
      film = JSON.parse(data);
    } catch {
      film = undefined;
    }
    replay(element, film);
  }
}

if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', fillAll);
else fillAll();
