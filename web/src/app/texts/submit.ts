// Texts of handing in a bot, and of the check's answer.

import type { State, Submission } from '../types';

const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** What a bot of each game is. */
const WHAT: { [game: string]: string[] } = {
  'solitude-scramble': [
    'A file `Submission.py` with a function `get_action(state, match_history)`.',
    'Other `.py` and `.json` files beside it can be imported. No files, processes or network: the check names each forbidden word.',
    'Nothing a call leaves behind is there in the next one.',
  ],
  'colour-battle': [
    'A `.py` file with a class that has `determine_next_move(self, grid, enemies, game_info)`, `get_name()` and `get_contributor()`.',
    'Import `Move` from `bot_control`. One thread only.',
  ],
  'connect-five': [
    'A zip or folder with `BotName.py` in it; its class is called like the file and has `get_move(self, board, player, T, N)`.',
    'A folder `data` beside it can be written and is kept between matches.',
  ],
  'hide-and-seek': [
    'A `.py` file with a class `Seeker` or `Hider` that has `move()`.',
    'Choose which of them takes part.',
  ],
  'word-racer': [
    'A folder or zip with a `players.yml` or an `agon.toml` that says the command to run.',
    'Any language: the bot reads lines and writes lines. Hand in what it needs to run, built.',
  ],
};

export const submit = {
  plural,
  title: (competition: string) => `Hand in a bot: ${competition}`,
  shortTitle: 'Hand in a bot',
  versionTitle: (bot: string) => `A new version of ${bot}`,
  to: 'to',

  notOpen: (state: State) =>
    ({
      draft: 'This competition is not open for bots yet.',
      open: 'This competition takes no bots just now.',
      closed: 'Handing in is over: the competition starts soon.',
      running: 'The competition is being played: it takes no bots just now.',
      paused: 'The competition is being played: it takes no bots just now.',
      waiting: 'The competition takes no bots just now.',
      over: 'This competition is over.',
      failed: 'The competition has stopped; the organisers are looking into it.',
    })[state],
  notOpenHint: 'Its page says when bots can be handed in again.',
  toCompetition: 'To the competition',
  needsAuthor: (role: string) => `You are signed in as ${role}; bots are handed in by authors.`,
  needsAuthorHint: 'Ask an organiser to make you an author.',
  noneLeft: (most: number) => `You have handed in as many bots as each contributor may: ${most}.`,
  notYours: 'This is not one of your bots here.',
  notYoursHint: 'Choose one of yours, or hand in a new one.',

  rules: 'What a bot is here',
  what: (game: string) => WHAT[game] ?? ['A folder, a zip or a file with everything the bot needs.'],
  anyLanguage: 'In another language: a folder with an `agon.toml` that says the command to run, built.',
  most: (size: string) => `At most ${size} together.`,
  perContributor: (most: number, left: number | null) =>
    left === null ? `At most ${plural(most, 'bot')} of each contributor.` : `At most ${plural(most, 'bot')} of each contributor; you can hand in ${left === 0 ? 'no more' : `${left} more`}.`,
  fullRules: 'Rules, API and starters',

  which: 'What do you hand in?',
  newBot: 'A new bot',
  versionOf: (bot: string, version: number | null) => `A new version of ${bot}${version === null ? '' : ` (now version ${version})`}`,
  versionAbout: 'It takes the place of the version before in all games from the next phase on, or from the start. If it is refused, the version before stays.',

  name: 'Name of the bot',
  nameHint: 'Shown in tables and games. No two bots of a competition have the same.',
  noName: 'Give the bot a name.',
  longName: (most: number) => `At most ${most} characters, please.`,
  role: 'Its role',
  noRole: 'Choose the role it plays.',
  className: 'Class',
  classHint: 'Only if the file has several: the name of the one that is the bot.',
  badClass: 'A class’s name has letters, digits and underscores only.',

  files: 'Files',
  drop: 'Drop a file, a folder or a zip here',
  dropNow: 'Let go to take them',
  chooseFiles: 'Choose files or a zip',
  chooseFolder: 'Choose a folder',
  chosen: (count: number, size: string) => `${plural(count, 'file')}, ${size} together`,
  caption: 'Files to be handed in',
  path: 'File',
  size: 'Size',
  remove: 'Leave out',
  removeLabel: (path: string) => `Leave out ${path}`,
  clear: 'Choose others',
  leftOut: (count: number) => `${plural(count, 'file')} left out that no bot needs:`,
  showAll: (count: number) => `Show all ${count}`,
  removed: (path: string) => `${path} is left out.`,
  reading: 'Reading the folder…',
  noFiles: 'Choose the bot’s files first.',
  unreadable: (path: string) => `${path} could not be read. Was it moved or changed? Choose it anew.`,
  emptyFolder: 'The folder has no files.',
  tooLarge: (size: string, most: string) => `Together ${size}: more than the ${most} that are allowed. Leave out what the bot does not need.`,
  tooMany: (count: number, most: number) => `${count} files: more than the ${most} that are allowed. Leave out what the bot does not need, such as tests and environments.`,
  zipAlone: (path: string) => `${path} is a zip and comes alone. Leave it out, or choose nothing but it.`,
  emptyFile: (path: string) => `${path} is empty.`,
  twice: (one: string, other: string) => `${one} and ${other} have the same name on some machines. Rename one of them.`,
  longPath: (path: string) => `${path}: the path is too long. Shorten it.`,

  send: 'Hand it in',
  sending: (percent: number) => `Sending: ${percent} %`,
  sent: 'Sent. Waiting for the answer…',
  cancel: 'Stop sending',
  cancelled: 'Stopped. Should it have arrived all the same, it stands on your own page.',
  offline: 'The bot could not be sent: the connection broke.',
  offlineHint: 'Everything is still here. Try again.',

  shell: 'The same from the shell',
  shellAbout: 'With a token of yours in the environment:',
  shellToken: 'Make a token',
  copy: 'Copy',
  copied: 'Copied',

  // The answer of the check.
  answer: {
    title: (name: string) => `Check of ${name}`,
    of: (competition: string) => `Handed in for ${competition}`,
    state: (state: Submission['state']) =>
      ({
        queued: 'Waiting for its check',
        checking: 'Being checked',
        accepted: 'Accepted',
        refused: 'Refused',
        broke: 'The check broke',
      })[state],
    queued: (before: number) => (before === 0 ? 'It is next.' : `${plural(before, 'bot')} before it.`),
    queuedAbout: 'This page tells by itself when the check begins. You can leave it: the answer is kept on your own page.',
    checking: 'It is looked at, started, and plays a trial game in the sandbox. This takes some seconds.',
    accepted: (version: number | null) => (version === null ? 'It takes part.' : `It takes part as version ${version}.`),
    refused: (count: number) => (count === 0 ? 'It does not take part as it is.' : `${plural(count, 'thing')} to mend.`),
    broke: 'This is our fault, not your bot’s. The organisers can see what happened; hand it in once more in a while.',
    connection: 'No word from the server at the moment. Trying again…',
    notAllowed: 'The check of a bot is for its author and the organisers.',
    facts: { file: 'File', size: 'Size', by: 'Author', at: 'Handed in', took: 'Answer after', version: 'Version', hash: 'Fingerprint' },
    steps: 'Step by step',
    step: (name: string) => ({ found: 'Found', source: 'Source', loads: 'Starts', plays: 'Trial game' })[name] ?? name,
    stepAbout: (name: string) =>
      ({
        found: 'Is it there, and what is it?',
        source: 'Does its source hold anything that is not allowed?',
        loads: 'Does it start?',
        plays: 'Does it play a game against house bots without a fault?',
      })[name] ?? '',
    outcome: { yes: 'Yes', no: 'No', skipped: 'Not looked at' },
    bad: 'To mend',
    advice: 'Advice',
    whole: 'The whole bot',
    place: (file: string | null, line: number | null) =>
      file === null ? (line === null ? '' : `line ${line}`) : line === null ? file : `${file}, line ${line}`,
    hint: 'What to do:',
    trace: 'What it printed',
    trials: 'The trial game',
    trial: (n: number) => `Trial game ${n}`,
    trialAbout: 'Step through what your bot did. What it printed stands beside each turn.',
    watch: 'Show the trial game',
    next: 'What now',
    toBot: 'See the bot’s page',
    toCompetition: 'See the competition',
    again: 'Hand in a mended version',
    better: 'Hand in a new version',
    anew: 'Hand it in once more',
    toMe: 'All my bots',
    atHome: 'The same check at home, as often as you like:',
    nextAccepted: 'Nothing more to do: it plays when the competition does. You can hand in new versions while the competition takes bots.',
    nextRefused: 'Mend what is told above and hand it in again. The version before, if there was one, stays in the competition.',
    nextBroke: 'Hand it in once more in a while.',
    seconds: (ms: number) => (ms < 950 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`),
  },
};
