// Texts of the big screen. They are read from a distance: few words.

import { integer, joinWithAnd, plural } from '../format';

const ordinal = (place: number): string => {
  const tens = place % 100;
  const ending = tens >= 11 && tens <= 13 ? 'th' : ({ 1: 'st', 2: 'nd', 3: 'rd' }[place % 10] ?? 'th');
  return `${place}${ending}`;
};

/** Names of rounds as the server sends them. */
const ROUNDS: { [round: string]: string } = { final: 'Final', 'semi-finals': 'Semi-finals', 'quarter-finals': 'Quarter-finals', 'match for the third place': 'Third place' };

export const texts = {
  link: 'Big screen',
  what: 'the competition',
  document: (name: string) => `Big screen, ${name}`,
  loadFailed: 'The competition could not be loaded. Trying again …',

  top: {
    phase: (name: string, stage: string | undefined) => (stage === undefined || stage === '' || stage === name ? name : `${name} · ${stage}`),
    progress: (matches: number, expected: number | null) => (expected === null ? plural(matches, 'match', 'matches') : `${integer(matches)} of ${plural(expected, 'match', 'matches')}`),
    progressLabel: (phase: string) => `Progress of ${phase}`,
    disconnected: 'Connection lost. Reconnecting …',
    connected: 'Connected again',
    live: 'Live',
    rotationPaused: 'Rotation paused',
  },

  controls: {
    label: 'Controls of the big screen',
    previous: 'Previous board',
    next: 'Next board',
    pause: 'Pause the rotation',
    resume: 'Resume the rotation',
    fullScreen: 'Full screen',
    leave: 'Leave the big screen',
    keys: 'Space: pause · arrows: change the board · F: full screen',
  },

  board: {
    label: 'Live board',
    /** Boards count from 0 in the API and from 1 for people. */
    name: (board: number) => `Board ${board + 1}`,
    /** Where the game belongs: the phase, the match, and the game if it is not the first. */
    game: (phase: string, match: string, game: number) => `${phase}, match ${match}${game === 1 ? '' : `, game ${game}`}`,
    players: 'Players',
    others: (count: number) => `and ${integer(count)} more`,
    wait: 'The next game starts soon.',
    disconnected: 'Board connection lost. Reconnecting …',
    wins: (names: string[]) => `${joinWithAnd(names)} ${names.length === 1 ? 'wins' : 'win'}`,
    draw: 'Draw',
    ordinal,
  },

  standings: {
    title: 'Standings',
    empty: 'No results yet.',
    up: (places: number) => `up ${plural(places, 'place')}`,
    down: (places: number) => `down ${plural(places, 'place')}`,
    place: 'Place',
    name: 'Bot',
    moved: 'Change',
    more: (count: number) => `${integer(count)} more`,
  },

  next: { title: 'Next', results: 'Latest results', all: (count: number) => `All ${integer(count)} bots`, names: (names: string[], more: number) => `${names.join(', ')}${more > 0 ? ` and ${integer(more)} more` : ''}` },

  bracket: {
    title: 'Bracket',
    open: '…',
    page: (name: string, page: number, pages: number) => (pages === 1 ? name : `${name}, ${page} of ${pages}`),
    third: 'Third place',
    current: 'now',
    won: 'advances',
    round: (name: string) => ROUNDS[name] ?? `${name.charAt(0).toUpperCase()}${name.slice(1)}`,
  },

  moments: {
    upset: 'Upset',
    beats: (winner: string, loser: string) => `${winner} beats ${loser}`,
    places: (winner: number, loser: number) => `${ordinal(winner)} against ${ordinal(loser)} in the standings`,
    seeds: (winner: number, loser: number) => `Seed ${winner} against seed ${loser}`,
    leader: 'New leader',
    leads: (name: string) => `${name} takes the lead`,
    phase: 'Phase decided',
    wins: (names: string[], phase: string) => `${joinWithAnd(names)} ${names.length === 1 ? 'wins' : 'win'} ${phase}`,
    champion: 'The winner',
    champions: 'The winners',
    names: (names: string[]) => joinWithAnd(names),
  },

  lobby: {
    open: 'Submissions are open',
    closed: 'Submissions are closed',
    soon: 'The competition starts soon.',
    toDeadline: 'Submissions close in',
    toStart: 'The competition starts in',
    days: (days: number) => plural(days, 'day'),
    clock: (hours: string, minutes: string, seconds: string) => `${hours}:${minutes}:${seconds}`,
    entrants: (count: number) => plural(count, 'bot'),
    none: 'No bots yet.',
  },

  state: {
    paused: 'Paused',
    pausedHint: 'The competition continues soon.',
    failed: 'Interrupted',
    failedHint: 'The organisers are working on it.',
    between: 'Break',
    betweenHint: (next: string | undefined) => (next === undefined ? 'The next phase starts soon.' : `Next: ${next}`),
  },

  hidden: {
    title: 'Games are hidden',
    hint: 'The boards of this phase stay secret until the competition ends.',
    playing: 'Playing now',
    separator: ' – ',
    others: (names: string[], more: number) => `${names.join(', ')} and ${integer(more)} more`,
  },

  podium: {
    title: 'Final result',
    places: ['First place', 'Second place', 'Third place'],
    by: (contributor: string) => `by ${contributor}`,
  },
};
