//! Lines of sight, computed with exact integer arithmetic on bitboards.
//!
//! Two cells see each other if the segment between their centres touches no wall. Edges and corners belong to the wall. The cells
//! that a segment touches depend only on the offset between its ends, so they are computed once per offset, at compile time.

use super::cells::{Cell, CellSet, SIDE};
use super::map::Map;

/// Columns in each row that the segment from `[0, 0]` to `[dx, dy]` touches, as `TOUCHED[dy][dx][row]`.
static TOUCHED: [[[u32; SIDE]; SIDE]; SIDE] = touched_by_offset();

#[allow(clippy::large_stack_arrays, reason = "runs at compile time only")]
const fn touched_by_offset() -> [[[u32; SIDE]; SIDE]; SIDE] {
    let mut table = [[[0; SIDE]; SIDE]; SIDE];
    let mut dy = 0;
    while dy < SIDE {
        let mut dx = 0;
        while dx < SIDE {
            let mut row = 0;
            while row <= dy {
                table[dy][dx][row] = touched_in_row(dx as i32, dy as i32, row as i32);
                row += 1;
            }
            dx += 1;
        }
        dy += 1;
    }
    table
}

/// Columns in one row that the segment from `[0, 0]` to `[dx, dy]` touches. In units of half a cell, the row spans y from
/// `2 row - 1` to `2 row + 1`, and the segment there spans x from `low / dy` to `high / dy`. It touches column i if that range
/// meets `2 i - 1` to `2 i + 1`, including both ends.
const fn touched_in_row(dx: i32, dy: i32, row: i32) -> u32 {
    if dy == 0 {
        return columns(0, dx);
    }
    let top = if row == 0 { 0 } else { 2 * row - 1 };
    let bottom = if row == dy { 2 * dy } else { 2 * row + 1 };
    let (low, high) = (top * dx, bottom * dx);
    // Smallest i with (2 i + 1) dy >= low, largest i with (2 i - 1) dy <= high.
    let first = if low <= dy { 0 } else { (low - dy + 2 * dy - 1) / (2 * dy) };
    let last = (high + dy) / (2 * dy);
    columns(first, if last > dx { dx } else { last })
}

const fn columns(first: i32, last: i32) -> u32 {
    ((1u32 << (last + 1)) - 1) & !((1 << first) - 1)
}

/// Segment between two cells: its first row, the masks of its rows from the top, their shift, and whether the masks must be
/// applied in reverse order.
#[inline]
fn segment(a: Cell, b: Cell) -> (usize, &'static [u32], usize, bool) {
    let (left, right) = if a.x() <= b.x() { (a, b) } else { (b, a) };
    let dy = left.y().abs_diff(right.y());
    let masks = &TOUCHED[dy][right.x() - left.x()][..=dy];
    (left.y().min(right.y()), masks, left.x(), right.y() < left.y())
}

/// Whether two players on these cells see each other.
#[inline]
pub fn see_each_other(map: &Map, a: Cell, b: Cell) -> bool {
    let (top, masks, shift, upwards) = segment(a, b);
    let rows = &map.walls().rows()[top..];
    // No early exit: twenty and-or operations cost less than one mispredicted branch.
    let hit = if upwards {
        rows.iter().zip(masks.iter().rev()).fold(0, |hit, (row, mask)| hit | row & mask << shift)
    } else {
        rows.iter().zip(masks).fold(0, |hit, (row, mask)| hit | row & mask << shift)
    };
    hit == 0
}

/// Cells that the segment between two cells touches, including both ends.
pub fn line(a: Cell, b: Cell) -> CellSet {
    let (top, masks, shift, upwards) = segment(a, b);
    let mut cells = CellSet::EMPTY;
    for (i, &mask) in masks.iter().enumerate() {
        let y = if upwards { top + masks.len() - 1 - i } else { top + i };
        let touched = (0..SIDE).filter(|x| (mask << shift) >> x & 1 == 1);
        for cell in touched.filter_map(|x| Cell::new(x as i32, y as i32)) {
            cells.insert(cell);
        }
    }
    cells
}

/// Cells that are visible from this one, including itself.
pub fn field_of_view(map: &Map, from: Cell) -> CellSet {
    map.empty().iter().filter(|&cell| see_each_other(map, from, cell)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(x: i32, y: i32) -> Cell {
        Cell::new(x, y).unwrap()
    }

    fn sees(walls: &[(i32, i32)], a: (i32, i32), b: (i32, i32)) -> bool {
        let map = Map::new(walls.iter().map(|&(x, y)| cell(x, y)).collect());
        see_each_other(&map, cell(a.0, a.1), cell(b.0, b.1))
    }

    #[test]
    fn corner_of_a_wall_blocks_the_view() {
        assert!(sees(&[], (3, 3), (5, 5)));
        for wall in [(3, 4), (4, 3), (4, 4), (5, 4), (4, 5)] {
            assert!(!sees(&[wall], (3, 3), (5, 5)), "{wall:?}");
        }
        assert!(sees(&[(2, 3), (5, 3), (3, 5), (6, 5)], (3, 3), (5, 5)));
        // From [0, 0] to [3, 1] the segment leaves row 0 at x = 1.5, a corner of four cells.
        assert!(!sees(&[(2, 0)], (0, 0), (3, 1)));
        assert!(!sees(&[(1, 1)], (0, 0), (3, 1)));
        assert!(sees(&[(3, 0), (0, 1)], (0, 0), (3, 1)));
    }

    /// Whether the segment between the centres meets the closed square of the wall. Separating axis test in doubled coordinates:
    /// no gap in x, no gap in y, and the corners not all strictly on one side.
    fn touches(a: Cell, b: Cell, wall: Cell) -> bool {
        let (ax, ay, bx, by) = (2 * a.x() as i32, 2 * a.y() as i32, 2 * b.x() as i32, 2 * b.y() as i32);
        let (wx, wy) = (2 * wall.x() as i32, 2 * wall.y() as i32);
        let apart = |p: i32, q: i32, w: i32| p.max(q) < w - 1 || p.min(q) > w + 1;
        let corners = [(-1, -1), (-1, 1), (1, -1), (1, 1)];
        let side = corners.map(|(cx, cy)| (bx - ax) * (wy + cy - ay) - (by - ay) * (wx + cx - ax));
        let one_side = side.iter().all(|&s| s > 0) || side.iter().all(|&s| s < 0);
        !apart(ax, bx, wx) && !apart(ay, by, wy) && !one_side
    }

    #[test]
    fn line_contains_exactly_the_cells_its_segment_touches() {
        let ends = [cell(0, 0), cell(19, 3), cell(7, 19), cell(10, 9), cell(4, 12)];
        for a in ends {
            for b in Cell::all() {
                let expected: CellSet = Cell::all().filter(|&w| touches(a, b, w)).collect();
                assert_eq!(line(a, b), expected, "{a} to {b}");
                let map = Map::new(CellSet::EMPTY);
                assert!(see_each_other(&map, a, b));
            }
        }
    }

    #[test]
    fn visibility_is_mutual_and_agrees_with_the_line() {
        let map = Map::generate(42);
        for a in map.empty().iter() {
            for b in map.empty().iter() {
                let clear = line(a, b).intersection(map.walls()).is_empty();
                assert_eq!(see_each_other(&map, a, b), clear, "{a} to {b}");
                assert_eq!(see_each_other(&map, b, a), clear, "{b} to {a}");
            }
        }
    }
}
