// Shown until the server has said its own.
export const version = '';
