// Addresses of what can be shared of a page: the link to a turn, pictures, GIFs, and the HTML that embeds a replay.

import { BASE } from './api';
import { path, withQuery } from './path_pattern';

/** What can be shared of a page. All addresses begin with a slash. */
export interface Shareable {
  /** Title of the page. */
  title: string;
  /** Address of the page. */
  page: string;
  /** Address of the picture that previews of links show. */
  card: string;
  game?: ShareableGame;
}

/** What can be shared of a game. */
export interface ShareableGame {
  picture: string;
  clip: string;
  embed: string;
  /** Number of the last turn. */
  last: number;
}

/** A range of turns as a GIF. */
export interface Clip {
  from: number;
  to: number;
  /** Turns per second; 0 lets the server choose. */
  speed: number;
}

/** A game of a competition. */
export function shareGame(title: string, competition: string, phase: number | string, match: string, game: number | string, last: number): Shareable {
  const api = BASE + path('competitions', competition, 'phases', phase, 'matches', match, 'games', game);
  return {
    title,
    page: path('c', competition, 'p', phase, 'm', match, 'g', game),
    card: `${api}/card.png`,
    game: { picture: `${api}/picture.png`, clip: `${api}/clip.gif`, embed: path('embed', competition, phase, match, game), last },
  };
}

/** A game outside of competitions. */
export function sharePlayed(title: string, id: string, last: number): Shareable {
  const api = BASE + path('played', id);
  return {
    title,
    page: path('played', id),
    card: `${api}/card.png`,
    game: { picture: `${api}/picture.png`, clip: `${api}/clip.gif`, embed: path('embed', 'played', id), last },
  };
}

/** A bot of a competition. */
export const shareBot = (title: string, competition: string, bot: number): Shareable => ({
  title,
  page: path('c', competition, 'bots', bot),
  card: BASE + path('competitions', competition, 'bots', bot, 'card.png'),
});

/** The standings of a competition. */
export const shareCompetition = (title: string, competition: string): Shareable => ({
  title,
  page: path('c', competition),
  card: BASE + path('competitions', competition, 'card.png'),
});

/** A whole turn of the game, whatever was typed. */
export const turnWithin = (turn: number, last: number): number => (Number.isFinite(turn) ? Math.max(0, Math.min(last, Math.round(turn))) : last);

/** Number of the last turn of a film, whatever the film is. */
export function lastTurn(film: unknown): number {
  const deltas = (film as { deltas?: unknown } | null | undefined)?.deltas;
  return Array.isArray(deltas) ? deltas.length : 0;
}

/** Turn of a link to a turn, `?t=12`. */
export function turnFromQuery(search: string): number | undefined {
  const turn = new URLSearchParams(search).get('t');
  return turn !== null && /^\d{1,9}$/.test(turn) ? Number(turn) : undefined;
}

/** Link to the page, at a turn if it is given. */
export const pageLink = (origin: string, page: string, turn?: number): string => origin + (turn === undefined ? page : `${page}?t=${turn}`);

export const pictureAddress = (game: ShareableGame, turn: number): string => withQuery(game.picture, { turn: String(turn) });

/** Address of a GIF. The turns are given in any order. */
export function clipAddress(game: ShareableGame, clip: Clip): string {
  const [from, to] = [turnWithin(clip.from, game.last), turnWithin(clip.to, game.last)].sort((a, b) => a - b);
  return withQuery(game.clip, { from: String(from), to: String(to), speed: clip.speed > 0 ? String(clip.speed) : undefined });
}

/** HTML that embeds the replay in another page. It starts at the turn, and plays by itself if that is wanted. */
export function embedCode(origin: string, game: ShareableGame, title: string, turn: number | undefined, autoplay: boolean): string {
  const address = withQuery(game.embed, { t: turn === undefined ? undefined : String(turn), autoplay: autoplay ? '1' : undefined });
  const text = (value: string): string => value.replace(/[<>&"]/g, ' ');
  return `<iframe src="${origin}${address.replaceAll('&', '&amp;')}" title="${text(title)}" width="100%" height="760" loading="lazy" allow="fullscreen"></iframe>`;
}
