// All games of the viewer, by id.

import { colourBattle } from './colour';
import { connectFive } from './connect';
import { hideAndSeek } from './hide';
import { solitude } from './solitude';
import type { GameView } from './types';
import { wordRacer } from './word';

const GAMES: { [id: string]: GameView } = {
  'solitude-scramble': solitude,
  'colour-battle': colourBattle,
  'connect-five': connectFive,
  'hide-and-seek': hideAndSeek,
  'word-racer': wordRacer,
};

export function gameView(id: string): GameView | undefined {
  return Object.hasOwn(GAMES, id) ? GAMES[id] : undefined;
}
