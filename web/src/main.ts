// Entry point of the viewer; exports the global `Agon`. Every `<div class="agon-replay">` with a film in a script element is filled
// automatically. `Agon.replay(element, film)` fills other elements.

import { mount, unmount } from 'svelte';
import { filmProblem, type Film, type FilmPart } from './film';
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
 * Shows a film in an element. Attributes of the element: `data-hash="off"` leaves the page's address unchanged, `data-start="12"` is
 * the first turn shown, `data-theme="dark"` or `"light"` overrides the system theme.
 */
export function replay(element: HTMLElement, film: unknown): ViewerHandle {
  element.classList.add('agon-replay');
  element.dataset.filled = 'yes';
  element.replaceChildren();
  const problem = filmProblem(film);
  if (problem) return showError(element, problem === 'newer' ? viewerTexts.newer : viewerTexts.notAFilm);
  const shown = film as Film;
  const view = gameView(shown.game);
  if (!view) return showError(element, viewerTexts.unknownGame(shown.game));
  // The hash of the page can hold the turn of one film only. The first film uses it.
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
