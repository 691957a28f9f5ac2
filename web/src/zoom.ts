// Arithmetic of zooming into a board. A point p of the board, in pixels of the unzoomed board, is drawn at `p * scale + offset`.

export interface ZoomView {
  scale: number;
  x: number;
  y: number;
}

export interface Size {
  width: number;
  height: number;
}

export const MAX_SCALE = 8;
/** Factor of a button, a key or a step of the wheel. */
export const ZOOM_STEP = 1.3;
export const WHOLE: ZoomView = { scale: 1, x: 0, y: 0 };

/** The nearest view that shows nothing outside the board. */
export function clampView(view: ZoomView, { width, height }: Size): ZoomView {
  const scale = Math.max(1, Math.min(MAX_SCALE, view.scale));
  const inside = (offset: number, length: number): number => Math.min(0, Math.max(length * (1 - scale), offset));
  // Adding zero turns -0 into 0.
  return { scale, x: inside(view.x, width) + 0, y: inside(view.y, height) + 0 };
}

/** Zooms by a factor. The point of the board at `(x, y)` stays where it is. */
export function zoomAt(view: ZoomView, factor: number, x: number, y: number, size: Size): ZoomView {
  const scale = Math.max(1, Math.min(MAX_SCALE, view.scale * factor));
  const ratio = scale / view.scale;
  return clampView({ scale, x: x - (x - view.x) * ratio, y: y - (y - view.y) * ratio }, size);
}

/** Moves the view. */
export function panBy(view: ZoomView, dx: number, dy: number, size: Size): ZoomView {
  return clampView({ scale: view.scale, x: view.x + dx, y: view.y + dy }, size);
}

/** Factor of a turn of the wheel. Trackpads send many small steps. */
export function wheelFactor(deltaY: number, deltaMode: number): number {
  const pixels = deltaMode === 1 ? deltaY * 33 : deltaMode === 2 ? deltaY * 400 : deltaY;
  return ZOOM_STEP ** Math.max(-2, Math.min(2, -pixels / 100));
}
