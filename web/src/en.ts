// Every text of the viewer.

const list = (items: string[]): string =>
  items.length < 2 ? (items[0] ?? '') : `${items.slice(0, -1).join(', ')} and ${items[items.length - 1]}`;

const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** Answers as the record spells them, in words. */
const MOVES: { [token: string]: string } = { U: 'up', D: 'down', L: 'left', R: 'right', S: 'stays', C: 'centre' };

export const en = {
  list,
  plural,
  title: (game: string, names: string[]) =>
    names.length > 4 ? `${game}: ${names.length} bots` : `${game}: ${names.join(' – ')}`,
  seed: (seed: string) => `seed ${seed}`,
  viewer: (title: string) => `Replay of ${title}`,
  live: 'Live',
  liveHint: 'This game is being played now',
  toLive: 'Jump to live',
  controls: 'Replay controls',
  play: 'Play',
  pause: 'Pause',
  back: 'One turn back',
  forward: 'One turn on',
  toStart: 'To the start',
  toEnd: 'To the end',
  faultBefore: 'Previous fault',
  faultAfter: 'Next fault',
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
  linkHint: 'Copy a link to this moment',
  linkCopied: 'Link to this moment copied',
  linkShown: 'The address now names this moment',
  keys: 'Keys',
  keyList: [
    ['Space', 'play, pause'],
    ['← →', 'one turn back, on'],
    ['Home End', 'to the start, to the end'],
    ['+ −', 'faster, slower'],
    ['F', 'next fault (Shift: previous)'],
  ] as [string, string][],
  board: 'Standing',
  seat: 'Bot',
  by: (contributor: string) => `by ${contributor}`,
  answer: 'Answer',
  time: 'Time',
  chart: 'Over time',
  chartHint: 'Click to go to a turn',
  chartLabel: (of: string, lines: string[]) => `Chart over time: ${of}. Now: ${lines.join(', ')}.`,
  together: 'both',
  words: 'In their own words',
  fault: (name: string, fault: string, says: string) => `${name}: ${fault}${says === '' ? '' : `: ${says}`}`,
  faultAt: (turn: number, what: string) => `Fault in turn ${turn}: ${what}`,
  log: (name: string) => `${name} printed`,
  ended: (how: string) => `Ended: ${how}.`,
  place: (place: number, name: string, score: string) => `${place}. ${name} ${score}`,
  notAFilm: 'This is not a film of an Agon game.',
  newer: 'This film was made by a newer Agon than this viewer.',
  unknownGame: (game: string) => `This viewer does not know the game ${game}.`,
  micros: (micros: number): string => {
    if (micros < 0.1) return '< 0.1 µs';
    if (micros < 1_000) return `${micros < 10 ? micros.toFixed(1) : Math.round(micros)} µs`;
    if (micros < 1_000_000) return `${(micros / 1_000).toPrecision(3)} ms`;
    return `${(micros / 1_000_000).toPrecision(3)} s`;
  },
  answerWord: (token: string, of: ((token: string) => string) | undefined): string => {
    if (token === '-') return 'not asked';
    if (token.startsWith('!')) return token.slice(1);
    return of ? of(token) : (MOVES[token] ?? token);
  },

  solitude: {
    ready: 'Sides are dealt, points are on the platforms; everybody chooses.',
    alone: (name: string, platform: string, points: number) => `${name} alone on ${platform}: +${points}`,
    met: (names: string[], platform: string) => `${list(names)} meet on ${platform}: nothing`,
    none: (name: string) => `${name} forfeits its move`,
    history: 'Points turn by turn',
    row: (name: string) => `${name}, points turn by turn`,
    platforms: { NW: 'NW', NE: 'NE', SW: 'SW', SE: 'SE', CENTER: 'the centre' } as { [id: string]: string },
    sides: { NORTH: 'north', EAST: 'east', SOUTH: 'south', WEST: 'west' } as { [id: string]: string },
  },
  colour: {
    ids: 'Letters',
    blank: (share: string) => `white ${share} %`,
    state: (leader: string, share: string, blank: string, clashes: number) =>
      `${leader} leads with ${share} %. White: ${blank} %.${clashes > 0 ? ` ${plural(clashes, 'clash', 'clashes')}.` : ''}`,
    start: (bots: number, side: number) => `${bots} bots on a canvas of ${side} by ${side} white tiles.`,
    canvas: (side: number) => `The canvas, ${side} by ${side} tiles, y upwards.`,
    pick: (name: string) => `Show only the tiles of ${name}`,
  },
  connect: {
    special: (a: number, b: number) => `Special columns ${a} and ${b}`,
    odds: (left: string, right: string, stays: string) => `drift left ${left} %, right ${right} %, stays ${stays} %`,
    start: (name: string) => `Empty board. ${name} moves first.`,
    drop: (name: string, column: number) => `${name} drops into column ${column}.`,
    drift: (name: string, named: number, column: number) =>
      `${name} drops into special column ${named}; the piece drifts ${column < named ? 'left' : 'right'} to ${column}.`,
    wins: (name: string) => `Five in a line: ${name} wins.`,
    full: 'The board is full: a draw.',
    fault: (name: string, fault: string) => `${name} loses: ${fault}.`,
    answer: (token: string) => `column ${token}`,
    board: 'The board, nine columns and seven rows',
    game: (number: number) => `game ${number} of the match`,
  },
  hide: {
    eyes: 'Whose eyes',
    all: 'Everything',
    seeker: 'Seeker’s view',
    hider: 'Hider’s view',
    field: 'Field of view',
    start: 'The hunt begins.',
    moves: (name: string, where: string) => `${name} goes ${where}.`,
    stays: (name: string) => `${name} stays.`,
    faulted: (name: string, fault: string) => `${name} stays (${fault}).`,
    see: 'They see each other.',
    unseen: 'They do not see each other.',
    lastSeen: (step: number) => (step === 0 ? 'spawn' : `seen in step ${step}`),
    step: (step: number, steps: number) => `step ${step} of ${steps}`,
    over: (ending: string, score: number) => `${ending}: ${plural(score, 'step')}.`,
    map: 'The room, 20 by 20 cells',
    legend: 'Dashes: the way walked. Ring: where the other was last seen. Line: they see each other.',
    moveWords: { LEFT: 'left', RIGHT: 'right', UP: 'up', DOWN: 'down', STAY: 'nowhere' } as { [id: string]: string },
  },
  word: {
    start: (letter: string) => `The first letter is ${letter}.`,
    called: (name: string, letter: string) => `${name} calls ${letter}.`,
    placed: (name: string, letter: string, position: number) =>
      `${name} writes ${letter} in row ${Math.floor(position / 7) + 1}, column ${(position % 7) + 1}.`,
    found: (words: string[]) => `New: ${words.join(', ')}.`,
    points: (points: number) => plural(points, 'point'),
    board: (name: string, points: number) => `Board of ${name}, ${plural(points, 'point')}`,
    words: 'Words',
    none: 'no word yet',
    calls: 'Letters called',
    answer: (token: string) => token.replace(/^([A-Z]?)(\d+)$/, (_, called: string, at: string) => `${called} at ${at}`.trim()),
    result: (names: string[], points: number[]) => `${names[0]} ${points[0]}, ${names[1]} ${points[1]}.`,
    fault: (name: string, fault: string) => `${name} loses: ${fault}.`,
  },
};
