// Where sides and platforms are in the drawing.

export interface Point {
  x: number;
  y: number;
}

export const PLACES: { [place: string]: Point } = {
  NW: { x: 90, y: 84 }, NORTH: { x: 300, y: 84 }, NE: { x: 510, y: 84 },
  WEST: { x: 90, y: 240 }, CENTER: { x: 300, y: 240 }, EAST: { x: 510, y: 240 },
  SW: { x: 90, y: 396 }, SOUTH: { x: 300, y: 396 }, SE: { x: 510, y: 396 },
};
export const PLATFORM_RADIUS = 56;
export const VIEW_BOX = '0 0 600 480';
