// Practice ladders and challenges: what their pages compute.

import { stripBidi } from './format';
import { texts } from './texts/practice';
import type { Challenge, ChallengeChoice, PlayedGame, PracticeLadderPlayer } from './types';

export type FormLetter = 'W' | 'D' | 'L';

/** The latest results of a ladder player, at most `most`, the newest last. */
export function formLetters(form: string, most = 8): FormLetter[] {
  return [...form].filter((letter): letter is FormLetter => letter === 'W' || letter === 'D' || letter === 'L').slice(-most);
}

/** The players of each role, in the order of the list. Games with one role have one group without a role. */
export function byRole(players: PracticeLadderPlayer[]): { role: string | null; players: PracticeLadderPlayer[] }[] {
  const groups: { role: string | null; players: PracticeLadderPlayer[] }[] = [];
  for (const player of players) {
    const group = groups.find((one) => one.role === player.role);
    if (group) group.players.push(player);
    else groups.push({ role: player.role, players: [player] });
  }
  return groups;
}

/** State of a ladder, for its text. */
export function ladderState(ladder: { on: boolean; open: boolean; playing: boolean }): keyof typeof texts.states {
  if (!ladder.on) return 'off';
  if (!ladder.open) return 'closed';
  return ladder.playing ? 'playing' : 'waiting';
}

/** Names of a game in the order of the places, with the scores. */
export function resultText(game: PlayedGame): string {
  const seats = [...game.seats].sort((a, b) => a.place - b.place);
  return seats.map((seat) => `${stripBidi(seat.name)} ${Math.round(seat.score * 100) / 100}`).join(', ');
}

/** The bots of a challenge as the choice for another one. House bots are `house:NAME`, others `bot:ID`. */
export function choiceValues(challenge: Challenge): string[] {
  return challenge.bots.map((bot) => (bot.bot !== null ? `bot:${bot.bot}` : bot.house !== null ? `house:${bot.house}` : ''));
}

/** The body of a choice in the form; undefined if nothing is chosen. */
export function parseChoice(value: string): ChallengeChoice | undefined {
  const bot = /^bot:(\d+)$/.exec(value);
  if (bot) return { bot: Number(bot[1]) };
  const house = /^house:(.+)$/.exec(value);
  return house?.[1] === undefined ? undefined : { house: house[1] };
}

/** Whether games of a challenge may follow. */
export const isOpen = (challenge: Challenge): boolean => challenge.state === 'queued' || challenge.state === 'playing';
