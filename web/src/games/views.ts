// Views of all games, for the replay viewer. See parts.ts.

import { byGame } from './parts';
import type { GameView } from './types';

const VIEWS = byGame(import.meta.glob<GameView>('./*/view.ts', { eager: true, import: 'default' }));

export const gameView = (id: string): GameView | undefined => VIEWS.get(id);
