// Texts of the home page.

import { integer, plural } from '../format';

export const texts = {
  title: 'Competitions',
  what: 'the competitions',
  groups: { now: 'Now', open: 'Open for submissions', soon: 'Submissions closed', over: 'Finished', draft: 'Drafts' },
  none: 'No competitions yet.',
  noneOrganiser: 'Create the first one on the dashboard.',
  noneOthers: 'Browse the games: rules, house bots and starter bots.',
  toAdmin: 'Open dashboard',
  toGames: 'All games',
  bots: (count: number) => plural(count, 'bot'),
  phase: (number: number, of: number, name: string) => (of === 1 ? name : `Phase ${number} of ${of}: ${name}`),
  progress: (matches: number, expected: number | null) => (expected === null ? plural(matches, 'match', 'matches') : `${integer(matches)} of ${plural(expected, 'match', 'matches')}`),
  progressLabel: (name: string) => `Progress of ${name}`,
  leaders: 'Leaders',
  winners: 'Winners',
  rank: (rank: number) => `${rank}.`,
  live: 'Live now:',
  watch: (name: string) => `Watch ${name} live`,
  board: (names: string, turn: number) => (turn === 0 ? `${names}, starting` : `${names}, turn ${turn}`),
  hidden: 'Seeds are hidden until the competition ends.',
  submit: 'Submit a bot',
  submitTo: (name: string) => `Submit a bot to ${name}`,
};
