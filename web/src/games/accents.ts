// Accents of all games, for the app. See parts.ts; the file `accent.ts` of a game exports an `Accent`.

import { byGame } from './parts';

/** A colour that stands for a game, readable as text (contrast 4.5) on the light and on the dark background of the app. */
export interface Accent {
  light: string;
  dark: string;
}

const ACCENTS = byGame(import.meta.glob<Accent>('./*/accent.ts', { eager: true, import: 'default' }));

/** A game without an accent has the colour of the app. */
export const gameAccent = (id: string): Accent | undefined => ACCENTS.get(id);
