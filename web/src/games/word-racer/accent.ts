// The accent of the game. See ../accents.ts.

import type { Accent } from '../accents';

const accent: Accent = { light: '#1d58b3', dark: '#8bb9ff' };

export default accent;
