// Interface between the viewer and a game: how to draw a frame and how to describe a turn.

import type { Component } from 'svelte';
import type { Json } from '../delta';
import type { FrameIndex } from '../film';
import type { Mark } from '../marks';
import type { Zoom } from '../zoom.svelte';

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
  /** The part of the board that is shown. */
  zoom: Zoom;
}

export interface NotesProps {
  frames: FrameIndex;
  turn: number;
  badges: Badge[];
  seek: (turn: number) => void;
}

/** How the chart over time is drawn, and what it says about itself. */
export interface ChartInfo {
  title: string;
  /** What the values are. */
  what: string;
  /** Unit of the values, written after a number. */
  unit: string;
  /** Whether the highest value leads. */
  hasLeader: boolean;
  /** Draws areas on top of each other, up to this sum, instead of lines. */
  areasUpTo?: number;
}

export interface GameView {
  /** Draws a frame. */
  Board: Component<BoardProps>;
  /** Additional panel beside the board. */
  Notes?: Component<NotesProps>;
  /** Height of the board as a multiple of its width, on a narrow page. The board gets no more height than that. */
  tall: number;
  /** Initial speed in turns per second. */
  speed: number;
  /** Whether the scoreboard is sorted by score. */
  ranked: boolean;
  /** Text for an answer token. Without it the viewer uses a common text or the token. */
  describeAnswer?(token: string): string;
  /** Without it, the chart uses the words of the film. */
  chart?: ChartInfo;
  /** Moments that are marked on the time line, besides faults and changes of the lead. */
  captures?: {
    /** What these moments are called. */
    name: string;
    find(frames: FrameIndex): Mark[];
  };
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
