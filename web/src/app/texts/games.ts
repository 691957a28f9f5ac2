// The texts of the games' pages.

import { list, plural } from '../format';

export const texts = {
  title: 'Games',
  what: 'the games',
  whatOne: 'the game',
  none: 'There is no game.',
  back: 'Games',
  seats: (min: number, max: number) => (min === max ? plural(min, 'bot') : `${min} to ${max} bots`),
  facts: { seats: 'Seats', roles: 'Roles', clock: 'Clock', score: 'Score', faults: 'A fault costs' },
  score: (name: string, better: 'higher' | 'lower') => `${name}, the ${better === 'higher' ? 'more' : 'fewer'} the better`,
  roles: (roles: string[]) => list(roles),
  competitions: 'Competitions of this game',
  noCompetitions: 'There is none at present.',
  rules: 'Rules',
  noRules: 'No rules are written down here.',
  api: 'How a bot is asked',
  starters: 'Start with a bot that already plays',
  startersHint: 'A starter plays legally and not badly; its README says how to try it at home.',
  starter: (language: string) => `${language} starter`,
  languages: { python: 'Python', rust: 'Rust', cpp: 'C++', java: 'Java', js: 'JavaScript' } as { [language: string]: string },
  house: 'House bots, the weakest first',
  bot: 'Bot',
  thinks: 'How it thinks',
  settings: 'Settings',
  setting: 'Setting',
  settingAbout: 'What it is',
  settingDefault: 'Default',
  contents: 'On this page',
};
