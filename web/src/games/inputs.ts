// How persons play, for all games. See parts.ts; the file `input.ts` of a game has a `GameInput` as its default export.

import { byGame } from './parts';
import type { GameInput } from './types';

const INPUTS = byGame(import.meta.glob<GameInput>('./*/input.ts', { eager: true, import: 'default' }));

/** A game without an input is played with buttons. */
export const gameInput = (id: string): GameInput | undefined => INPUTS.get(id);
