// Texts of the home page.

import { integer, plural } from '../format';

export const texts = {
  title: 'Competitions',
  lead: 'Programs play against each other. Watch them live, or write one and enter it.',
  signUp: 'Create an account',
  what: 'the competitions',
  groups: { now: 'On now', open: 'Open for submissions', soon: 'Submissions closed', over: 'Winners', draft: 'Drafts' },
  alsoNow: 'Also on now',
  none: 'No competitions yet.',
  noneOrganiser: 'Create the first one on the dashboard.',
  noneOthers: 'Browse the games: rules, house bots and starter bots.',
  noneOpen: 'No competition is open at the moment.',
  noneOpenHint: 'Write your bot meanwhile: each game has rules, starter bots and house bots to beat.',
  noneOpenOrganiser: 'Create one, or open the submissions of a draft, on the dashboard.',
  toAdmin: 'Open dashboard',
  toGames: 'All games',
  toStarters: 'Games and starter bots',
  bots: (count: number) => plural(count, 'bot'),
  phase: (number: number, of: number, name: string) => (of === 1 ? name : `Phase ${number} of ${of}: ${name}`),
  progress: (matches: number, expected: number | null) => (expected === null ? plural(matches, 'match', 'matches') : `${integer(matches)} of ${plural(expected, 'match', 'matches')}`),
  progressLabel: (name: string) => `Progress of ${name}`,
  leaders: 'Leaders',
  winners: 'Winners',
  rank: (rank: number) => `${rank}.`,
  /** Heading above the leaders of a role, such as `Seekers`. */
  role: (role: string) => `${role.charAt(0).toUpperCase()}${role.slice(1)}s`,
  liveBadge: 'live',
  watch: (name: string) => `Watch ${name} live`,
  watchNow: 'Watch live',
  standings: 'Standings',
  board: (names: string, turn: number) => (turn === 0 ? `${names}, starting` : `${names}, turn ${turn}`),
  hidden: 'Games are hidden until the competition ends.',
  submit: 'Submit a bot',
};
