// Texts of the replay viewer. Each game has its own texts in its folder.

import { plural } from './text_format';

/** Texts for answer tokens of a record. */
const MOVES: { [token: string]: string } = { U: 'up', D: 'down', L: 'left', R: 'right', S: 'stays', C: 'centre' };

export const viewerTexts = {
  title: (game: string, names: string[]) =>
    names.length > 4 ? `${game}: ${names.length} bots` : `${game}: ${names.join(' – ')}`,
  seed: (seed: string) => `seed ${seed}`,
  viewer: (title: string) => `Replay of ${title}`,
  live: 'Live',
  liveHint: 'This game is in progress',
  toLive: 'Jump to live',
  controls: 'Replay controls',
  play: 'Play',
  pause: 'Pause',
  back: 'Previous turn',
  forward: 'Next turn',
  toStart: 'Go to start',
  toEnd: 'Go to end',
  previousMark: 'Previous moment',
  nextMark: 'Next moment',
  slower: 'Slower',
  faster: 'Faster',
  speed: (speed: number) => `${speed} ${speed === 1 ? 'turn' : 'turns'}/s`,
  turnSlider: 'Turn',
  start: 'Start',
  turn: (turn: number, last: number, live = false) => {
    if (live) return turn === 0 ? 'Start' : `Turn ${turn}`;
    return turn === 0 ? `Start of ${last} turns` : `Turn ${turn} of ${last}`;
  },
  zoomIn: 'Zoom in',
  zoomOut: 'Zoom out',
  zoomReset: 'Show the whole board',
  full: 'Full screen',
  leaveFull: 'Leave full screen',
  sound: 'Sound',
  soundOn: 'Turn sound on',
  soundOff: 'Turn sound off',
  autoplay: 'Play games when they open',
  more: 'More',
  link: 'Copy link',
  linkHint: 'Copy a link to this turn',
  linkCopied: 'Link copied',
  linkShown: 'The address bar has the link to this turn',
  keys: 'Keys',
  keyList: [
    ['Space', 'play, pause'],
    ['← →', 'previous, next turn'],
    ['Home End', 'go to start, end'],
    ['+ −', 'faster, slower'],
    ['N', 'next moment (Shift: previous)'],
    ['F', 'next fault (Shift: previous)'],
    ['W', 'full screen'],
    ['Z', 'zoom in (Shift: out), 0: whole board'],
    ['M', 'sound'],
  ] as [string, string][],
  moments: 'Moments',
  markKinds: { lead: 'Change of lead', fault: 'Fault', capture: 'Capture' },
  moment: (turn: number, text: string) => `Turn ${turn}: ${text}`,
  moreMoments: (count: number) => ` (and ${count} more)`,
  takesTheLead: (name: string) => `${name} takes the lead`,
  scoreboard: 'Scores',
  seat: 'Bot',
  by: (contributor: string) => `by ${contributor}`,
  answer: 'Answer',
  time: 'Time',
  chart: 'Score chart',
  chartHint: 'Click to go to a turn',
  chartLabel: (title: string, of: string, lines: string[]) => `${title}: ${of}, by turn. Now: ${lines.join(', ')}.`,
  chartTurns: (last: number) => `turn ${last}`,
  chartStart: 'start',
  leader: (name: string, value: string) => `${name} leads with ${value}`,
  values: (values: string[]) => values.join(', '),
  noLeader: (value: string) => `level at ${value}`,
  chartNow: (value: string) => `now ${value}`,
  value: (value: string, unit: string) => (unit === '' ? value : `${value} ${unit}`),
  together: 'both',
  messages: 'Bot messages',
  fault: (name: string, fault: string, message: string) => `${name}: ${fault}${message === '' ? '' : `: ${message}`}`,
  faultAt: (turn: number, what: string) => `Fault in turn ${turn}: ${what}`,
  output: (name: string) => `Output of ${name}`,
  ended: (how: string) => `Ended: ${how}.`,
  place: (place: number, name: string, score: string) => `${place}. ${name} ${score}`,
  comparison: (first: string, second: string) => `Comparison of ${first} and ${second}`,
  atEnd: (turns: number) => `finished after ${plural(turns, 'turn')}`,
  notAFilm: 'This is not a film of an Agon game.',
  newer: 'This film needs a newer version of the viewer.',
  unknownGame: (game: string) => `This viewer does not support the game ${game}.`,
  micros: (micros: number): string => {
    if (micros < 0.1) return '< 0.1 µs';
    if (micros < 1_000) return `${micros < 10 ? micros.toFixed(1) : Math.round(micros)} µs`;
    if (micros < 1_000_000) return `${(micros / 1_000).toPrecision(3)} ms`;
    return `${(micros / 1_000_000).toPrecision(3)} s`;
  },
  describeAnswer: (token: string, describe: ((token: string) => string) | undefined): string => {
    if (token === '-') return 'not asked';
    if (token.startsWith('!')) return token.slice(1);
    return describe ? describe(token) : (MOVES[token] ?? token);
  },
};
