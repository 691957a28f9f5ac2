// Texts of the replay viewer. Each game has its own texts in its folder.

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
  previousFault: 'Previous fault',
  nextFault: 'Next fault',
  slower: 'Slower',
  faster: 'Faster',
  speed: (speed: number) => `${speed} ${speed === 1 ? 'turn' : 'turns'}/s`,
  turnSlider: 'Turn',
  start: 'Start',
  turn: (turn: number, last: number, live = false) => {
    if (live) return turn === 0 ? 'Start' : `Turn ${turn}`;
    return turn === 0 ? `Start of ${last} turns` : `Turn ${turn} of ${last}`;
  },
  link: 'Link',
  linkHint: 'Copy a link to this turn',
  linkCopied: 'Link copied',
  linkShown: 'The address bar has the link to this turn',
  keys: 'Keys',
  keyList: [
    ['Space', 'play, pause'],
    ['← →', 'previous, next turn'],
    ['Home End', 'go to start, end'],
    ['+ −', 'faster, slower'],
    ['F', 'next fault (Shift: previous)'],
  ] as [string, string][],
  scoreboard: 'Scores',
  seat: 'Bot',
  by: (contributor: string) => `by ${contributor}`,
  answer: 'Answer',
  time: 'Time',
  chart: 'Score chart',
  chartHint: 'Click to go to a turn',
  chartLabel: (of: string, lines: string[]) => `Score chart: ${of}. Now: ${lines.join(', ')}.`,
  together: 'both',
  messages: 'Bot messages',
  fault: (name: string, fault: string, message: string) => `${name}: ${fault}${message === '' ? '' : `: ${message}`}`,
  faultAt: (turn: number, what: string) => `Fault in turn ${turn}: ${what}`,
  output: (name: string) => `Output of ${name}`,
  ended: (how: string) => `Ended: ${how}.`,
  place: (place: number, name: string, score: string) => `${place}. ${name} ${score}`,
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
