// The rotation of the big screen: which board or scene is shown, and for how long.

import { describe, expect, test } from 'vitest';
import { GONE_IN_GAME_MS, GONE_MS, LEAD_CHANGE_STAY_MS, LONG_GAME_MS, RESULT_MS, Rotation, type RotationBoard } from '../../src/app/screen/rotation';

const ROTATE = 20_000;
const START = 1_800_000_000_000;
const board = (number: number, more: Partial<RotationBoard> = {}): RotationBoard => ({ board: number, hidden: false, since: START, ...more });

/** A rotation with these boards, which shows the first of them since `START`. */
function rotationOf(boards: RotationBoard[]): Rotation {
  const rotation = new Rotation(ROTATE, START);
  rotation.boards(boards, START);
  return rotation;
}
const shown = (rotation: Rotation): number | string => (rotation.scene.kind === 'board' ? rotation.scene.board : rotation.scene.kind);
/** What is shown at these times after the start. */
const at = (rotation: Rotation, ...times: number[]): (number | string)[] =>
  times.map((time) => {
    rotation.tick(START + time);
    return shown(rotation);
  });

describe('boards take turns', () => {
  test('each is shown for the time of the rotation, in the order of the numbers', () => {
    const rotation = rotationOf([board(7), board(2), board(4)]);
    expect(at(rotation, 0, ROTATE - 1, ROTATE, 2 * ROTATE, 3 * ROTATE)).toEqual([2, 2, 4, 7, 2]);
  });

  test('the only board stays, without starting again', () => {
    const rotation = rotationOf([board(3)]);
    const scene = rotation.scene;
    expect(at(rotation, ROTATE, 5 * ROTATE)).toEqual([3, 3]);
    expect(rotation.scene).toBe(scene);
    expect(rotation.elapsed(START + ROTATE / 2)).toBeUndefined();
  });

  test('a new board is shown before boards that were shown already', () => {
    const rotation = rotationOf([board(1), board(2)]);
    rotation.boards([board(1), board(2), board(9)], START + 1000);
    expect(at(rotation, ROTATE, 2 * ROTATE, 3 * ROTATE)).toEqual([2, 9, 1]);
  });

  test('elapsed goes from 0 to 1', () => {
    const rotation = rotationOf([board(1), board(2)]);
    expect([0, 5_000, 40_000].map((time) => rotation.elapsed(START + time))).toEqual([0, 0.25, 1]);
  });

  test('thousands of boards that come and go leave nothing behind', () => {
    const rotation = rotationOf([board(0), board(1)]);
    for (let n = 1; n < 5_000; n += 1) rotation.boards([board(n), board(n + 1)], START + n * ROTATE);
    expect(rotation.scene.kind).toBe('board');
  });
});

describe('a board stays', () => {
  test('after a lead change, but not longer than twice the time', () => {
    const rotation = rotationOf([board(1), board(2)]);
    rotation.leadChanged(START + ROTATE - 1000);
    expect(at(rotation, ROTATE, ROTATE - 1000 + LEAD_CHANGE_STAY_MS - 1, ROTATE - 1000 + LEAD_CHANGE_STAY_MS)).toEqual([1, 1, 2]);
    for (let time = 0; time < 3 * ROTATE; time += 1000) rotation.leadChanged(START + ROTATE - 1000 + LEAD_CHANGE_STAY_MS + time);
    expect(at(rotation, ROTATE - 1000 + LEAD_CHANGE_STAY_MS + 2 * ROTATE)).toEqual([1]);
  });

  test('with a long game', () => {
    const rotation = rotationOf([board(1, { since: START - LONG_GAME_MS }), board(2)]);
    expect(at(rotation, ROTATE, 1.5 * ROTATE)).toEqual([1, 2]);
  });

  test('until the result was shown, if the game ends during its time', () => {
    const rotation = rotationOf([board(1), board(2)]);
    rotation.gameFinished(START + ROTATE - 500);
    expect(at(rotation, ROTATE, ROTATE - 500 + RESULT_MS - 1, ROTATE - 500 + RESULT_MS)).toEqual([1, 1, 2]);
  });

  test('for the next game, if there is time for it', () => {
    const rotation = rotationOf([board(1), board(2)]);
    rotation.gameFinished(START + 1000);
    expect(at(rotation, 1000 + RESULT_MS)).toEqual([1]);
    rotation.gameStarted();
    expect(at(rotation, ROTATE - 1, ROTATE)).toEqual([1, 2]);
  });

  test('but leaves after the result, if there is no time for another game', () => {
    const rotation = rotationOf([board(1), board(2)]);
    rotation.gameFinished(START + ROTATE / 2);
    expect(at(rotation, ROTATE / 2 + RESULT_MS - 1, ROTATE / 2 + RESULT_MS)).toEqual([1, 2]);
  });

  test('while its last turns are shown, but not longer than twice the time', () => {
    const rotation = rotationOf([board(1), board(2)]);
    rotation.gameEnding();
    expect(at(rotation, ROTATE, 2 * ROTATE - 1, 2 * ROTATE)).toEqual([1, 1, 2]);
  });

  test('until its game was shown to the end, if the competition stops', () => {
    const rotation = rotationOf([board(1)]);
    rotation.scenes([], ['standings'], START);
    rotation.gameStarted();
    rotation.boards([], START + 1000);
    expect(rotation.inGame).toBe(true);
    expect(at(rotation, 1000 + GONE_MS)).toEqual([1]);
    rotation.gameFinished(START + 9000);
    expect(at(rotation, 9000 + RESULT_MS - 1, 9000 + RESULT_MS)).toEqual([1, 'standings']);
    const aborted = rotationOf([board(1)]);
    aborted.scenes([], ['standings'], START);
    aborted.gameStarted();
    aborted.boards([], START + 1000);
    expect(at(aborted, 1000 + GONE_IN_GAME_MS - 1, 1000 + GONE_IN_GAME_MS)).toEqual([1, 'standings']);
    expect(aborted.inGame).toBe(false);
  });

  test('for a moment without a game, then the next one comes', () => {
    const rotation = rotationOf([board(1), board(2)]);
    rotation.boards([board(2)], START + 1000);
    expect(at(rotation, 1000 + GONE_MS - 1, 1000 + GONE_MS)).toEqual([1, 2]);
    rotation.boards([board(1)], START + 10_000);
    rotation.boards([board(1), board(2)], START + 11_000);
    expect(at(rotation, 11_000 + GONE_MS)).toEqual([2]);
  });
});

describe('hidden boards', () => {
  test('are never shown, also not when they become hidden while the rotation is paused', () => {
    const rotation = rotationOf([board(1, { hidden: true }), board(2), board(3)]);
    expect(at(rotation, 0, ROTATE, 2 * ROTATE)).toEqual([2, 3, 2]);
    rotation.pause(true, START + 2 * ROTATE);
    rotation.boards([board(2, { hidden: true }), board(3)], START + 2 * ROTATE + 1);
    expect(shown(rotation)).toBe(3);
  });

  test('leave the other scenes', () => {
    const rotation = rotationOf([board(1, { hidden: true })]);
    rotation.scenes(['bracket'], ['hidden', 'standings'], START);
    expect(at(rotation, 0, ROTATE, 2 * ROTATE)).toEqual(['hidden', 'standings', 'hidden']);
  });
});

describe('breaks and scenes without a board', () => {
  test('a break comes after each round of the boards', () => {
    const rotation = rotationOf([board(1), board(2)]);
    rotation.scenes(['bracket'], ['wait'], START);
    expect(at(rotation, 0, ROTATE, 2 * ROTATE, 3 * ROTATE, 4 * ROTATE, 5 * ROTATE)).toEqual([1, 2, 'bracket', 1, 2, 'bracket']);
  });

  test('with many boards a break comes after three', () => {
    const rotation = rotationOf([1, 2, 3, 4, 5].map((number) => board(number)));
    rotation.scenes(['bracket'], ['wait'], START);
    expect(at(rotation, 0, ROTATE, 2 * ROTATE, 3 * ROTATE, 4 * ROTATE)).toEqual([1, 2, 3, 'bracket', 4]);
  });

  test('the first game replaces the waiting scene at once, and standings after a short while', () => {
    const rotation = new Rotation(ROTATE, START);
    rotation.boards([board(1)], START + 100);
    expect(shown(rotation)).toBe(1);
    const other = new Rotation(ROTATE, START);
    other.scenes([], ['standings'], START);
    other.boards([board(1)], START + 100);
    expect(shown(other)).toBe('standings');
    expect(at(other, 3_000)).toEqual([1]);
  });

  test('a scene that does not exist any more is left', () => {
    const rotation = new Rotation(ROTATE, START);
    rotation.scenes([], ['lobby'], START);
    rotation.scenes([], ['standings', 'bracket'], START + 10);
    expect(shown(rotation)).toBe('standings');
  });
});

describe('keys', () => {
  test('a pause holds the board, and after it the board has its whole time again', () => {
    const rotation = rotationOf([board(1), board(2)]);
    rotation.pause(true, START + 1000);
    expect(rotation.paused).toBe(true);
    expect(rotation.elapsed(START + 5000)).toBeUndefined();
    expect(at(rotation, 5 * ROTATE)).toEqual([1]);
    rotation.pause(false, START + 5 * ROTATE);
    expect(at(rotation, 6 * ROTATE - 1, 6 * ROTATE)).toEqual([1, 2]);
  });

  test('arrows go through boards and breaks, also during a pause', () => {
    const rotation = rotationOf([board(1), board(2)]);
    rotation.scenes(['bracket'], ['wait'], START);
    rotation.pause(true, START);
    const seen = [1, 1, 1, -1, -1].map((by) => {
      rotation.step(by as 1 | -1, START);
      return shown(rotation);
    });
    expect(seen).toEqual([2, 'bracket', 1, 'bracket', 2]);
  });

  test('arrows without any board do nothing harmful', () => {
    const rotation = new Rotation(ROTATE, START);
    rotation.step(1, START);
    rotation.step(-1, START);
    expect(shown(rotation)).toBe('wait');
  });
});
