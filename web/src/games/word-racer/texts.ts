// Texts of Word Racer.

import { plural } from '../../text_format';

export const texts = {
  start: (letter: string) => `The first letter is ${letter}.`,
  called: (name: string, letter: string) => `${name} calls ${letter}.`,
  placed: (name: string, letter: string, position: number) =>
    `${name} writes ${letter} in row ${Math.floor(position / 7) + 1}, column ${(position % 7) + 1}.`,
  found: (words: string[]) => `New words: ${words.join(', ')}.`,
  /** One of the best places, and whether there are others. */
  missed: (letter: string, points: number, position: number, places: number) =>
    `${letter} would bring +${points} in row ${Math.floor(position / 7) + 1}, column ${(position % 7) + 1}${places > 1 ? ', or elsewhere' : ''}.`,
  bestPlace: (points: number) => `+${points}`,
  points: (points: number) => plural(points, 'point'),
  board: (name: string, points: number) => `Board of ${name}, ${plural(points, 'point')}`,
  words: 'Words',
  none: 'no words yet',
  wordsOf: (name: string) => `Words of ${name}`,
  chart: { title: 'Score', what: 'points of all words', unit: 'points' },
  longWordName: 'Long word',
  longWord: (name: string, word: string, points: number) => `${name} writes ${word}, +${points}`,
  calls: 'Letters called',
  input: (cell: number) => `Row ${Math.floor(cell / 7) + 1}, column ${(cell % 7) + 1}`,
  inputCall: (letter: string, cell: number) => `${letter} in row ${Math.floor(cell / 7) + 1}, column ${(cell % 7) + 1}`,
  inputLetter: 'Which letter?',
  inputPlace: (letter: string) => `Where do you write ${letter}?`,
  inputCallPrompt: 'Choose a cell, then call the letter that both of you write.',
  answer: (token: string) => token.replace(/^([A-Z]?)(\d+)$/, (_, called: string, at: string) => `${called} at ${at}`.trim()),
  result: (names: string[], points: number[]) => `${names[0]} ${points[0]}, ${names[1]} ${points[1]}.`,
  fault: (name: string, fault: string) => `${name} loses: ${fault}.`,
};
