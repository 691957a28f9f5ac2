// The accent of the game. See ../accents.ts.

import type { Accent } from '../accents';

const accent: Accent = { light: '#0b685f', dark: '#62d8c9' };

export default accent;
