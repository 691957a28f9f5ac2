import { describe, expect, test } from 'vitest';
import { clampView, MAX_SCALE, panBy, wheelFactor, WHOLE, ZOOM_STEP, zoomAt, type ZoomView } from '../src/zoom';

const size = { width: 400, height: 200 };
/** Where a point of the board is drawn. */
const drawn = (view: ZoomView, x: number, y: number): number[] => [x * view.scale + view.x, y * view.scale + view.y];
/** The point of the board that is drawn at a place. */
const boardPoint = (view: ZoomView, x: number, y: number): number[] => [(x - view.x) / view.scale, (y - view.y) / view.scale];

describe('zoom', () => {
  test('the point under the pointer stays', () => {
    let view = WHOLE;
    for (const factor of [1.3, 2, 0.9, 1.7]) {
      const before = boardPoint(view, 130, 90);
      view = zoomAt(view, factor, 130, 90, size);
      boardPoint(view, 130, 90).forEach((value, i) => expect(value).toBeCloseTo(before[i] as number, 6));
    }
    expect(view.scale).toBeGreaterThan(3);
  });

  test('the scale stays within its limits', () => {
    let view = WHOLE;
    for (let i = 0; i < 40; i += 1) view = zoomAt(view, ZOOM_STEP, 10, 10, size);
    expect(view.scale).toBe(MAX_SCALE);
    for (let i = 0; i < 40; i += 1) view = zoomAt(view, 1 / ZOOM_STEP, 300, 150, size);
    expect(view).toEqual(WHOLE);
  });

  test('nothing outside the board is shown', () => {
    const view = zoomAt(WHOLE, 2, 0, 0, size);
    expect(panBy(view, 1000, 1000, size)).toEqual({ scale: 2, x: 0, y: 0 });
    const far = panBy(view, -1000, -1000, size);
    expect(drawn(far, size.width, size.height)).toEqual([size.width, size.height]);
    expect(panBy(WHOLE, 30, -30, size), 'a whole board does not move').toEqual(WHOLE);
  });

  test('clampView follows a board that becomes smaller', () => {
    expect(clampView({ scale: 3, x: -800, y: -400 }, { width: 100, height: 50 })).toEqual({ scale: 3, x: -200, y: -100 });
  });

  test('the wheel zooms in steps that are limited', () => {
    expect(wheelFactor(-100, 0)).toBeCloseTo(ZOOM_STEP);
    expect(wheelFactor(3, 1)).toBeLessThan(1);
    expect(wheelFactor(-1e6, 0)).toBeCloseTo(ZOOM_STEP ** 2);
    expect(wheelFactor(4, 0) * wheelFactor(-4, 0)).toBeCloseTo(1);
  });
});
