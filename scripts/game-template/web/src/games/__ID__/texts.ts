// Texts of __TITLE__.

export const texts = {
  // FILL IN: the texts of the viewer.
  start: (name: string) => `Start. ${name} moves first.`,
  move: (answer: number) => `Move ${answer}.`,
  ended: (why: string) => `The game is over: ${why}.`,
  board: 'Board of __TITLE__',
};
