// Targets on a board: which one a key moves to, which one a point belongs to, and what is offered as a button.

import type { GameInput, InputRequest, InputTarget } from '../../games/types';

export type Direction = 'left' | 'right' | 'up' | 'down';

const centre = ({ x, y, width, height }: InputTarget): { x: number; y: number } => ({ x: x + width / 2, y: y + height / 2 });
/** How much more a distance across the direction counts than one along it. */
const ACROSS = 2;

/** The target that an arrow key leads to: the nearest one in this direction. Without a current target, the one in the middle. */
export function nextTarget(targets: InputTarget[], current: string | undefined, direction: Direction): InputTarget | undefined {
  const from = targets.find((target) => target.id === current);
  if (!from) return middleTarget(targets);
  const start = centre(from);
  let best: { target: InputTarget; distance: number } | undefined;
  for (const target of targets) {
    const { x, y } = centre(target);
    const [dx, dy] = [x - start.x, y - start.y];
    const along = { left: -dx, right: dx, up: -dy, down: dy }[direction];
    const across = Math.abs(direction === 'left' || direction === 'right' ? dy : dx);
    if (along <= 0 || target === from) continue;
    const distance = along + ACROSS * across;
    if (!best || distance < best.distance) best = { target, distance };
  }
  return best?.target ?? from;
}

/** The target nearest to the middle of all. */
export function middleTarget(targets: InputTarget[]): InputTarget | undefined {
  const centres = targets.map(centre);
  const mean = (pick: (point: { x: number; y: number }) => number): number => centres.reduce((sum, point) => sum + pick(point), 0) / Math.max(1, centres.length);
  const [x, y] = [mean((point) => point.x), mean((point) => point.y)];
  const distances = centres.map((point) => Math.hypot(point.x - x, point.y - y));
  return targets[distances.indexOf(Math.min(...distances))];
}

/** The target whose area contains a point of the drawing. Later targets are drawn above earlier ones. */
export const targetAt = (targets: InputTarget[], x: number, y: number): InputTarget | undefined =>
  targets.findLast((target) => x >= target.x && x < target.x + target.width && y >= target.y && y < target.y + target.height);

/** Targets of a request, without answers that are not legal and without targets that have no answers. */
export function targetsOf(input: GameInput | undefined, request: InputRequest): InputTarget[] {
  const legal = new Set(request.legal);
  return (input?.targets(request) ?? [])
    .map((target) => ({ ...target, answers: target.answers.filter((answer) => legal.has(answer)) }))
    .filter((target) => target.answers.length > 0);
}

/** A button, or a group of buttons behind one. */
export interface AnswerButton {
  label: string;
  answers: string[];
  /** The target on the board that does the same. */
  target?: InputTarget;
}

/** With more answers than this, those without a place on the board are grouped by their first character. */
export const MAX_SINGLE_BUTTONS = 40;

/** Buttons for all legal answers: one for each target, then those for answers that have no place on the board. */
export function answerButtons(targets: InputTarget[], legal: string[], describe: (answer: string) => string): AnswerButton[] {
  const placed = new Set(targets.flatMap((target) => target.answers));
  const others = legal.filter((answer) => !placed.has(answer));
  const buttons: AnswerButton[] = targets.map((target) => ({ label: target.label, answers: target.answers, target }));
  if (others.length <= MAX_SINGLE_BUTTONS) return [...buttons, ...others.map((answer) => ({ label: describe(answer), answers: [answer] }))];
  const groups = new Map<string, string[]>();
  for (const answer of others) {
    const key = answer.charAt(0);
    groups.set(key, [...(groups.get(key) ?? []), answer]);
  }
  for (const [key, answers] of groups) buttons.push({ label: answers.length === 1 ? describe(answers[0] ?? key) : `${key} …`, answers });
  return buttons;
}
