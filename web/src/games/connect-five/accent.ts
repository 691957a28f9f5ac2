// The accent of the game. See ../accents.ts.

import type { Accent } from '../accents';

const accent: Accent = { light: '#8a5200', dark: '#f9bd57' };

export default accent;
