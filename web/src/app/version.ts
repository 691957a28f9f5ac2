// Version shown until the server has sent its own.
export const version = '';
