// The form for a new game: who sits where, and what is sent to the server.

import type { Game, NewPlay, PlayOpponents, PlaySeatChoice } from '../types';

/** Value of a control: `me`, `person`, `house NAME` or `bot ID`. */
export type SeatValue = string;

export interface Setup {
  game: string;
  seats: SeatValue[];
  clock: 'rules' | 'none';
  settings: { [name: string]: string };
  seed: string;
  name: string;
}

/** Role of a seat, if the game has several: seats beyond the roles have the last one. */
export const roleOf = (game: Pick<Game, 'roles'>, seat: number): string | undefined => (game.roles.length > 1 ? game.roles[Math.min(seat, game.roles.length - 1)] : undefined);

const fits = (roles: string[], role: string | undefined): boolean => role === undefined || roles.length === 0 || roles.includes(role);

/** House bots that play at a seat, weakest first. */
export const houseFor = (opponents: PlayOpponents, role: string | undefined): PlayOpponents['house'] => opponents.house.filter((bot) => fits(bot.roles, role));

/** Bots of authors that play at a seat and match a search. */
export function botsFor(opponents: PlayOpponents, role: string | undefined, search = ''): PlayOpponents['bots'] {
  const wanted = search.trim().toLowerCase();
  return opponents.bots.filter(
    (bot) => fits(bot.role === null ? [] : [bot.role], role) && (wanted === '' || `${bot.name} ${bot.contributor ?? ''} ${bot.competition_name}`.toLowerCase().includes(wanted)),
  );
}

/** Whether a value can sit at a seat with this role. */
export function canSit(value: SeatValue, opponents: PlayOpponents, role: string | undefined): boolean {
  if (value === 'me' || value === 'person') return true;
  const [kind, ...rest] = value.split(' ');
  const id = rest.join(' ');
  return kind === 'house' ? houseFor(opponents, role).some((bot) => bot.name === id) : botsFor(opponents, role).some((bot) => `${bot.bot}` === id);
}

/** A house bot of middling strength. */
export function usualOpponent(opponents: PlayOpponents, role: string | undefined): SeatValue {
  const house = houseFor(opponents, role);
  const middle = house[Math.floor((house.length - 1) / 2)];
  return middle ? `house ${middle.name}` : 'person';
}

/** Seats of a new game: the visitor in one of them, the opponent in the others, or a usual one where it does not play. */
export function seatsWith(game: Pick<Game, 'roles'>, opponents: PlayOpponents, count: number, mine: number, opponent: SeatValue): SeatValue[] {
  return Array.from({ length: count }, (_, seat) => {
    if (seat === mine) return 'me';
    const role = roleOf(game, seat);
    return canSit(opponent, opponents, role) ? opponent : usualOpponent(opponents, role);
  });
}

/** Exchanges the visitor with the seat that follows. House bots that do not play there become usual opponents. */
export function swapped(game: Pick<Game, 'roles'>, opponents: PlayOpponents, seats: SeatValue[]): SeatValue[] {
  const turned = [...seats.slice(1), ...seats.slice(0, 1)];
  return turned.map((value, seat) => (canSit(value, opponents, roleOf(game, seat)) ? value : usualOpponent(opponents, roleOf(game, seat))));
}

function choice(value: SeatValue): PlaySeatChoice {
  const [kind, ...rest] = value.split(' ');
  const id = rest.join(' ');
  if (kind === 'house') return { house: id };
  return kind === 'bot' ? { bot: Number(id) } : { person: true };
}

/** The request for a new game. Settings that were not changed are left to the rules. */
export function requestOf({ game, seats, clock, settings, seed, name }: Setup): NewPlay {
  const mine = seats.indexOf('me');
  const first = seats.findIndex((value) => value === 'me' || value === 'person');
  const changed = Object.fromEntries(Object.entries(settings).map(([key, value]) => [key, value.trim()]).filter(([, value]) => value !== ''));
  return {
    game,
    seats: seats.map(choice),
    clock,
    ...(Object.keys(changed).length > 0 ? { settings: changed } : {}),
    ...(seed.trim() !== '' ? { seed: seed.trim() } : {}),
    ...(name.trim() !== '' ? { name: name.trim() } : {}),
    ...(mine > first ? { seat: mine } : {}),
  };
}

/** The same game again with the seats moved by one: with two seats, the sides are swapped. */
export function swappedRequest(request: NewPlay): NewPlay {
  const { seat, ...rest } = request;
  const count = request.seats.length;
  const mine = seat ?? request.seats.findIndex((one) => 'person' in one);
  const seats = request.seats.map((_, i) => request.seats[(i + 1) % count] as PlaySeatChoice);
  const moved = (mine + count - 1) % count;
  const first = seats.findIndex((one) => 'person' in one);
  return moved === first ? { ...rest, seats } : { ...rest, seats, seat: moved };
}
