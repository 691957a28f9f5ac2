// Interface between the viewer and a game: how to draw a frame and how to describe a turn.

import type { Component } from 'svelte';
import type { Json } from '../delta';
import type { FrameIndex } from '../film';

/** Mark of a seat: an index into the palette, and a letter for readers with colour blindness. */
export interface Badge {
  letter: string;
  colour: number;
}

export interface BoardProps {
  frames: FrameIndex;
  turn: number;
  /** Progress of the animation to this turn, 0 to 1. */
  progress: number;
  badges: Badge[];
  /** Seat selected in the scoreboard. */
  chosen: number | undefined;
  dark: boolean;
  /** Description of the picture for screen readers. */
  label: string;
}

export interface NotesProps {
  frames: FrameIndex;
  turn: number;
  badges: Badge[];
}

export interface GameView {
  /** Draws a frame. */
  Board: Component<BoardProps>;
  /** Additional panel beside the board. */
  Notes?: Component<NotesProps>;
  /** Initial speed in turns per second. */
  speed: number;
  /** Whether the scoreboard is sorted by score. */
  ranked: boolean;
  /** Text for an answer token. Without it the viewer uses a common text or the token. */
  describeAnswer?(token: string): string;
  /** `colours` are the numbers of the bots among all that take part, if they are known. */
  badge(first: Json, seat: number, colours?: number[]): Badge;
  /** Describes a turn in one or two sentences. */
  describe(frames: FrameIndex, turn: number): string;
}

/** Easing: slow at both ends. */
export function ease(t: number): number {
  const x = Math.max(0, Math.min(1, t));
  return x < 0.5 ? 2 * x * x : 1 - 2 * (1 - x) * (1 - x);
}

/** Progress within a part of the animation, 0 to 1. */
export function progressBetween(progress: number, from: number, to: number): number {
  return Math.max(0, Math.min(1, (progress - from) / (to - from)));
}
