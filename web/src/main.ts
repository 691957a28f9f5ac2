// Entry point of the viewer; exports the global `Agon`. Every `<div class="agon-replay">` with a film in a script element is filled
// automatically. `Agon.replay(element, film)` fills other elements.

import { mount, unmount } from 'svelte';
import Compare from './Compare.svelte';
import { filmProblem, type Film, type FilmPart } from './film';
import type { GameView } from './games/types';
import { gameView } from './games/views';
import Replay from './Replay.svelte';
import { viewerTexts } from './viewer_texts';

/** Controls of one viewer. */
export interface ViewerHandle {
  /** Goes to a turn. */
  seek(turn: number): void;
  /**
   * Appends a part to a live film. Returns false if earlier turns are missing or if the viewer shows an error. The caller must
   * then load the whole film again.
   */
  append(part: FilmPart): boolean;
  /** Removes the viewer. */
  destroy(): void;
}

/**
 * Shows a film in an element. Attributes of the element:
 * - `data-hash="off"` leaves the page's address unchanged;
 * - `data-start="12"` is the first turn shown;
 * - `data-theme="dark"` or `"light"` overrides the system theme;
 * - `data-autoplay` starts playing; `data-autoplay="off"` does not, even if the reader chose it;
 * - `data-fit="box"` fills the height of the element instead of the rest of the window;
 * - `data-show="stage"` shows the board and its controls only, `data-show="board"` the board only.
 */
export function replay(element: HTMLElement, film: unknown): ViewerHandle {
  prepare(element);
  const found = readFilm(film);
  if (typeof found === 'string') return showError(element, found);
  // The hash of the page can hold the turn of one film only. The first film uses it.
  const hash = element.dataset.hash !== 'off' && document.querySelector('.agon-replay') === element;
  const app = mount(Replay, { target: element, props: { ...found, root: element, hash, start: startOf(element) } });
  return {
    seek: (turn) => app.seek(turn),
    append: (part) => app.append(part),
    destroy: () => {
      void unmount(app);
      delete element.dataset.filled;
    },
  };
}

/** Shows two finished games side by side, with one set of controls. The attributes of the element are those of `replay`. */
export function compare(element: HTMLElement, first: unknown, second: unknown): Pick<ViewerHandle, 'destroy'> {
  prepare(element);
  const [a, b] = [readFilm(first), readFilm(second)];
  if (typeof a === 'string') return showError(element, a);
  if (typeof b === 'string') return showError(element, b);
  const app = mount(Compare, { target: element, props: { films: [a.film, b.film], views: [a.view, b.view], root: element, start: startOf(element) } });
  return {
    destroy: () => {
      void unmount(app);
      delete element.dataset.filled;
    },
  };
}

function prepare(element: HTMLElement): void {
  element.classList.add('agon-replay');
  element.dataset.filled = 'yes';
  element.replaceChildren();
}

/** A film and how to draw it, or why it cannot be shown. */
function readFilm(film: unknown): { film: Film; view: GameView } | string {
  const problem = filmProblem(film);
  if (problem) return problem === 'newer' ? viewerTexts.newer : viewerTexts.notAFilm;
  const shown = film as Film;
  const view = gameView(shown.game);
  return view ? { film: shown, view } : viewerTexts.unknownGame(shown.game);
}

const startOf = (element: HTMLElement): number | undefined => (element.dataset.start === undefined ? undefined : Number(element.dataset.start) || 0);

function showError(element: HTMLElement, text: string): ViewerHandle {
  const message = document.createElement('p');
  message.setAttribute('role', 'alert');
  message.textContent = text;
  element.replaceChildren(message);
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
