// On which sides a box that scrolls sideways has more content.

/** A pixel or less is rounding, not content. */
const TOLERANCE = 1;

export const hiddenSides = (scrollLeft: number, clientWidth: number, scrollWidth: number): { left: boolean; right: boolean } => ({
  left: scrollLeft > TOLERANCE,
  right: scrollLeft + clientWidth < scrollWidth - TOLERANCE,
});
