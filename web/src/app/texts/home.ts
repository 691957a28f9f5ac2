// The texts of the first page.

import { plural, whole } from '../format';

export const texts = {
  title: 'Competitions',
  what: 'the competitions',
  groups: { now: 'Now', open: 'Open for bots', soon: 'About to start', over: 'Over', draft: 'Drafts' },
  none: 'There is no competition yet.',
  noneOrganiser: 'Make the first one at your desk.',
  noneOthers: 'Look at the games meanwhile: their rules, their bots, and starters for your own.',
  toDesk: 'To the desk',
  toGames: 'To the games',
  bots: (count: number) => plural(count, 'bot'),
  phase: (number: number, of: number, name: string) => (of === 1 ? name : `Phase ${number} of ${of}: ${name}`),
  progress: (matches: number, expected: number | null) => (expected === null ? plural(matches, 'match', 'matches') : `${whole(matches)} of ${plural(expected, 'match', 'matches')}`),
  progressLabel: (name: string) => `Progress of ${name}`,
  leaders: 'Leaders',
  winners: 'At the top',
  rank: (rank: number) => `${rank}.`,
  live: 'Being played now:',
  watch: (name: string) => `Watch ${name} live`,
  watchShort: 'Watch live',
  board: (names: string, turn: number) => (turn === 0 ? `${names}, beginning` : `${names}, turn ${turn}`),
  hidden: 'Boards are a secret until the end.',
  submit: 'Hand in a bot',
  submitTo: (name: string) => `Hand in a bot for ${name}`,
};
