// All texts of the replay viewer.

const list = (items: string[]): string =>
  items.length < 2 ? (items[0] ?? '') : `${items.slice(0, -1).join(', ')} and ${items[items.length - 1]}`;

const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** Texts for answer tokens of a record. */
const MOVES: { [token: string]: string } = { U: 'up', D: 'down', L: 'left', R: 'right', S: 'stays', C: 'centre' };

export const viewerTexts = {
  plural,
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

  solitude: {
    ready: 'Sides and points are dealt. All bots choose.',
    alone: (name: string, platform: string, points: number) => `${name} alone on ${platform}: +${points}`,
    collided: (names: string[], platform: string) => `${list(names)} meet on ${platform}: no points`,
    forfeited: (name: string) => `${name} forfeits its move`,
    history: 'Points per turn',
    row: (name: string) => `${name}, points per turn`,
    platforms: { NW: 'NW', NE: 'NE', SW: 'SW', SE: 'SE', CENTER: 'the centre' } as { [id: string]: string },
    sides: { NORTH: 'north', EAST: 'east', SOUTH: 'south', WEST: 'west' } as { [id: string]: string },
  },
  colour: {
    ids: 'Letters',
    blank: (share: string) => `white ${share} %`,
    state: (leader: string, share: string, blank: string, clashes: number) =>
      `${leader} leads with ${share} %. White: ${blank} %.${clashes > 0 ? ` ${plural(clashes, 'clash', 'clashes')}.` : ''}`,
    start: (bots: number, side: number) => `${bots} bots on a canvas of ${side} by ${side} white tiles.`,
    canvas: (side: number) => `Canvas, ${side} by ${side} tiles, y axis upwards.`,
  },
  connect: {
    special: (a: number, b: number) => `Special columns ${a} and ${b}`,
    odds: (left: string, right: string, stays: string) => `drift left ${left} %, right ${right} %, stays ${stays} %`,
    start: (name: string) => `Empty board. ${name} moves first.`,
    drop: (name: string, column: number) => `${name} drops a piece into column ${column}.`,
    drift: (name: string, named: number, column: number) =>
      `${name} drops a piece into special column ${named}; it drifts ${column < named ? 'left' : 'right'} to ${column}.`,
    wins: (name: string) => `Five in a line: ${name} wins.`,
    full: 'The board is full: a draw.',
    fault: (name: string, fault: string) => `${name} loses: ${fault}.`,
    answer: (token: string) => `column ${token}`,
    board: 'Board, nine columns and seven rows',
    game: (number: number) => `game ${number} of the match`,
  },
  hide: {
    viewpoint: 'Point of view',
    all: 'Everything',
    seeker: 'Seeker’s view',
    hider: 'Hider’s view',
    field: 'Field of view',
    start: 'Start of the game.',
    moves: (name: string, where: string) => `${name} moves ${where}.`,
    stays: (name: string) => `${name} stays.`,
    faulted: (name: string, fault: string) => `${name} stays (${fault}).`,
    visible: 'They see each other.',
    notVisible: 'They do not see each other.',
    lastSeen: (step: number) => (step === 0 ? 'spawn' : `last seen in step ${step}`),
    step: (step: number, steps: number) => `step ${step} of ${steps}`,
    ended: (ending: string, score: number) => `${ending}: ${plural(score, 'step')}.`,
    map: 'Map, 20 by 20 cells',
    legend: 'Dashes: path. Ring: last known position of the opponent. Line: line of sight.',
    directions: { LEFT: 'left', RIGHT: 'right', UP: 'up', DOWN: 'down', STAY: 'nowhere' } as { [id: string]: string },
  },
  word: {
    start: (letter: string) => `The first letter is ${letter}.`,
    called: (name: string, letter: string) => `${name} calls ${letter}.`,
    placed: (name: string, letter: string, position: number) =>
      `${name} writes ${letter} in row ${Math.floor(position / 7) + 1}, column ${(position % 7) + 1}.`,
    found: (words: string[]) => `New words: ${words.join(', ')}.`,
    points: (points: number) => plural(points, 'point'),
    board: (name: string, points: number) => `Board of ${name}, ${plural(points, 'point')}`,
    words: 'Words',
    none: 'no words yet',
    calls: 'Letters called',
    answer: (token: string) => token.replace(/^([A-Z]?)(\d+)$/, (_, called: string, at: string) => `${called} at ${at}`.trim()),
    result: (names: string[], points: number[]) => `${names[0]} ${points[0]}, ${names[1]} ${points[1]}.`,
    fault: (name: string, fault: string) => `${name} loses: ${fault}.`,
  },
};
