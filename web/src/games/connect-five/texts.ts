// Texts of Connect Five.

export const texts = {
  special: (a: number, b: number) => `Special columns ${a} and ${b}`,
  odds: (left: string, right: string, stays: string) => `drift left ${left} %, right ${right} %, stays ${stays} %`,
  start: (name: string) => `Empty board. ${name} moves first.`,
  drop: (name: string, column: number) => `${name} drops a piece into column ${column}.`,
  drift: (name: string, named: number, column: number) =>
    `${name} drops a piece into special column ${named}; it drifts ${column < named ? 'left' : 'right'} to ${column}.`,
  wins: (name: string) => `Five in a line: ${name} wins.`,
  full: 'The board is full: a draw.',
  fault: (name: string, fault: string) => `${name} loses: ${fault}.`,
  answer: (token: string) => `column ${token}`,
  board: 'Board, nine columns and seven rows',
  game: (number: number) => `game ${number} of the match`,
};
