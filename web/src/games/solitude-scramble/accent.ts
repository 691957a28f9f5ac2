// The accent of the game. See ../accents.ts.

import type { Accent } from '../accents';

const accent: Accent = { light: '#6238bb', dark: '#bda6ff' };

export default accent;
