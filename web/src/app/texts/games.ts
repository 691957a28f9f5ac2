// Texts of the game pages.

import { joinWithAnd, plural } from '../format';

export const texts = {
  title: 'Games',
  what: 'the games',
  whatOne: 'the game',
  none: 'No games.',
  back: 'Games',
  play: 'Play this game',
  seats: (min: number, max: number) => (min === max ? plural(min, 'bot') : `${min} to ${max} bots`),
  facts: { seats: 'Seats', roles: 'Roles', clock: 'Clock', score: 'Score', faults: 'Fault penalty' },
  score: (name: string, better: 'higher' | 'lower') => `${name}, ${better} is better`,
  roles: (roles: string[]) => joinWithAnd(roles),
  competitions: 'Competitions of this game',
  noCompetitions: 'No competitions at the moment.',
  rules: 'Rules',
  noRules: 'No rules available.',
  api: 'Bot API',
  starters: 'Starter bots',
  startersHint: 'A starter is a complete bot that plays legal moves. Its README explains how to run it on your machine.',
  starter: (language: string) => `${language} starter`,
  languages: { python: 'Python', rust: 'Rust', cpp: 'C++', java: 'Java', js: 'JavaScript', scala: 'Scala' } as { [language: string]: string },
  house: 'House bots (weakest first)',
  bot: 'Bot',
  strategy: 'Strategy',
  settings: 'Settings',
  setting: 'Setting',
  settingAbout: 'Description',
  settingDefault: 'Default',
  contents: 'On this page',
};
