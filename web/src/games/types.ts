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
  /** Set while a person plays at this board. */
  input?: BoardInput;
}

/** A place on the board where an answer is given. Lengths are in units of the board's drawing. */
export interface InputTarget {
  /** Unique among the targets of a request; the same place has the same id in every turn. */
  id: string;
  /** The area that reacts to a pointer. */
  x: number;
  y: number;
  width: number;
  height: number;
  /** Answers that are given here. If there are several, a second step chooses one of them. */
  answers: string[];
  /** Text of a button that does the same. */
  label: string;
  /** A hint that is drawn in the area: a ring with this centre and radius, and an arrow in it (degrees, 0 points right, 90 down). */
  hint?: { x: number; y: number; r: number; arrow?: number };
  /** What will be written in the area; shown while the target is selected. */
  preview?: string;
}

/** What a board needs to let a person play. Without targets, the person waits. */
export interface BoardInput {
  /** Seat of the person. */
  seat: number;
  targets: InputTarget[];
  /** Id of the target that the keys, the pointer or a focused button are at. */
  current: string | undefined;
  /** Id of the target for which the second step is open. */
  opened: string | undefined;
  choose(target: InputTarget): void;
  point(target: InputTarget | undefined): void;
}

/** The request that a person answers, with what its seat sees. */
export interface InputRequest {
  frame: Json;
  seat: number;
  /** Legal answers in the form of the record. */
  legal: string[];
}

/** How a person gives answers on the board of a game: `input.ts` of its folder. Without it, there are only buttons. */
export interface GameInput {
  /** Where the legal answers are on the board. Answers without a place are offered as buttons. */
  targets(request: InputRequest): InputTarget[];
  /** What is asked now. Without it, the words of the rules are shown. */
  prompt?(request: InputRequest): string;
  /** Text of an answer. */
  describe(answer: string, request: InputRequest): string;
  /** Text of an answer in the second step, among the answers of one target. A single character is also its key. */
  choice?(answer: string): string;
  /** Question of the second step. */
  choiceTitle?: string;
  /** Settings that the form for a new game starts with: the usual games are too long for persons. */
  settings?: { [name: string]: string };
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
