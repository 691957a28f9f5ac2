// The accent of the game. See ../accents.ts.

import type { Accent } from '../accents';

const accent: Accent = { light: '#a81f63', dark: '#ff8cc0' };

export default accent;
