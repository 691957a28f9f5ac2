// What the viewer needs to know of a game: how it is drawn, and how a turn is told.

import type { Component } from 'svelte';
import type { Json } from '../delta';
import type { Reel } from '../film';

/** How a seat is marked everywhere: a letter for those who cannot tell colours apart, and a number of the palette. */
export interface Badge {
  letter: string;
  colour: number;
}

export interface StageProps {
  reel: Reel;
  turn: number;
  /** How far the move to this turn has come, 0 to 1. */
  phase: number;
  badges: Badge[];
  /** A seat chosen in the table, or nothing. */
  chosen: number | undefined;
  dark: boolean;
  /** What the picture shows, for those who do not see it. */
  label: string;
}

export interface NotesProps {
  reel: Reel;
  turn: number;
  badges: Badge[];
}

export interface GameView {
  Stage: Component<StageProps>;
  /** What else stands beside the picture. */
  Notes?: Component<NotesProps>;
  /** Turns a second at first. */
  speed: number;
  /** Whether the table is sorted by standing. */
  ranked: boolean;
  /** An answer as people say it; else the record's token, or a common word for it. */
  answer?(token: string): string;
  badge(first: Json, seat: number): Badge;
  /** The turn in a sentence or two. */
  tell(reel: Reel, turn: number): string;
}

/** Slow at both ends. */
export function ease(t: number): number {
  const x = Math.max(0, Math.min(1, t));
  return x < 0.5 ? 2 * x * x : 1 - 2 * (1 - x) * (1 - x);
}

/** The part of a phase between two moments, 0 to 1. */
export function part(phase: number, from: number, to: number): number {
  return Math.max(0, Math.min(1, (phase - from) / (to - from)));
}
