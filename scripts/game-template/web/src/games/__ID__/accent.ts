// The accent of the game. See ../accents.ts.

import type { Accent } from '../accents';

// FILL IN: a colour that no other game has.
const accent: Accent = { light: '#5b4bb5', dark: '#b6a8ff' };

export default accent;
