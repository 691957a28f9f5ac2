// Texts of Connect Five.

import { list } from '../../text_format';

export const texts = {
  special: (a: number, b: number) => `Special columns ${a} and ${b}`,
  odds: (left: string, right: string, stays: string) => `drift left ${left} %, right ${right} %, stays ${stays} %`,
  hidden: 'Two secret columns drift. They are revealed at the end.',
  discovered: (columns: number[]) => `${columns.length === 1 ? 'Column' : 'Columns'} ${list(columns.map(String))} drifted.`,
  showSpecial: 'Special columns',
  showThreats: 'Threats',
  start: (name: string) => `Empty board. ${name} moves first.`,
  drop: (name: string, column: number) => `${name} drops a piece into column ${column}.`,
  drift: (name: string, named: number, column: number) =>
    `${name} drops a piece into column ${named}; it drifts ${column < named ? 'left' : 'right'} to ${column}.`,
  threatens: (name: string, columns: number[]) => `${name} threatens five in column ${list(columns.map(String))}`,
  threatName: 'Threat',
  wins: (name: string) => `Five in a line: ${name} wins.`,
  full: 'The board is full: a draw.',
  fault: (name: string, fault: string) => `${name} loses: ${fault}.`,
  answer: (token: string) => `column ${token}`,
  inputPrompt: 'Choose a column.',
  input: (column: number) => `Column ${column}`,
  board: 'Board, nine columns and seven rows',
  game: (number: number) => `Game ${number} of the match`,
  /** Games that each player has won before this one. */
  score: (names: string[], wins: number[]) => `Before it: ${names[0]} ${wins[0]}, ${names[1]} ${wins[1]}`,
  moves: 'Moves',
  move: (named: number, column: number) => (named === column ? `${named}` : `${named}${column < named ? '←' : '→'}${column}`),
  /** Contains the text of `move`, so that people who speak to their computer can say what they see. */
  moveLabel: (number: number, name: string, shown: string) => `Move ${number}: ${name}, column ${shown}`,
  chart: { title: 'Best line', what: 'most pieces in a line that can still become five', unit: '' },
};
