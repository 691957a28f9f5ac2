//! The map: walls, and the public generator that places them and the players.

use rand_mt::Mt;
use serde::ser::{Serialize, SerializeSeq, Serializer};

use super::cells::{CELLS, Cell, CellSet, Direction, SIDE};

/// Minimum number of walls: a quarter of the map.
const MIN_WALLS: usize = CELLS / 4;
/// Minimum distance of the spawn cells.
const MIN_SPAWN_DISTANCE: usize = 3;

/// The room: 20 x 20 cells, each empty or a wall.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Map {
    walls: CellSet,
    empty: CellSet,
}

impl Map {
    /// A map with these walls.
    pub fn new(walls: CellSet) -> Self {
        Self { walls, empty: walls.complement() }
    }

    /// Generates the map of a seed.
    pub fn generate(map_seed: u32) -> Self {
        let mut rng = NumpyRng::new(map_seed);
        let mut map = Self::new(CellSet::EMPTY);
        let mut walls = 0;
        while walls < MIN_WALLS {
            let x = rng.below(SIDE as u32) as i32;
            let y = rng.below(SIDE as u32) as i32;
            let shape = SHAPES[rng.below(SHAPES.len() as u32) as usize % SHAPES.len()];
            let cells = shape.iter().filter_map(|&(dx, dy)| Cell::new(x + dx, y + dy));
            walls += cells.map(|cell| usize::from(map.place_wall(cell))).sum::<usize>();
        }
        map
    }

    /// Writes one byte per cell, column by column.
    pub(super) fn pack(&self, out: &mut Vec<u8>) {
        let rows = self.walls.rows();
        out.extend((0..SIDE).flat_map(|x| rows.map(|row| (row >> x & 1) as u8)));
    }

    /// Turns an empty cell into a wall, unless that would split the empty cells.
    fn place_wall(&mut self, cell: Cell) -> bool {
        let placed = self.is_empty(cell) && !self.would_split(cell);
        if placed {
            self.walls.insert(cell);
            self.empty.remove(cell);
        }
        placed
    }

    /// Whether the empty cells would be disconnected without this one. Nearly always the eight neighbours decide; only otherwise
    /// the map is searched.
    fn would_split(&self, cell: Cell) -> bool {
        if !MAY_SPLIT[self.empty_neighbours(cell)] {
            return false;
        }
        let mut rest = self.empty;
        rest.remove(cell);
        let around = CellSet::one(cell).grown(&rest);
        let Some(start) = around.iter().next() else { return false };
        let mut flood = CellSet::one(start);
        loop {
            if around.minus(&flood).is_empty() {
                return false;
            }
            let next = flood.grown(&rest);
            if next == flood {
                return true;
            }
            flood = next;
        }
    }

    /// Mask of the empty cells among the eight neighbours: bit 0 is the upper left one, then clockwise.
    fn empty_neighbours(&self, cell: Cell) -> usize {
        // Three rows of three bits, shifted so that column x - 1 comes first. Cells off the map are not empty.
        let row = |y: usize| self.empty.rows().get(y).map_or(0, |&row| (row << 1 >> cell.x()) & 0b111);
        let (above, here, below) = (row(cell.y().wrapping_sub(1)), row(cell.y()), row(cell.y() + 1));
        let bits = above
            | (here >> 2 & 1) << 3
            | (below >> 2 & 1) << 4
            | (below >> 1 & 1) << 5
            | (below & 1) << 6
            | (here & 1) << 7;
        bits as usize
    }

    /// The wall cells.
    #[inline]
    pub const fn walls(&self) -> &CellSet {
        &self.walls
    }

    /// The cells that are not walls.
    #[inline]
    pub const fn empty(&self) -> &CellSet {
        &self.empty
    }

    /// Whether this cell is not a wall.
    #[inline]
    pub const fn is_empty(&self, cell: Cell) -> bool {
        self.empty.contains(cell)
    }

    /// Whether every empty cell can be reached from every other.
    pub fn is_connected(&self) -> bool {
        let flood = self.empty.iter().next().map_or(CellSet::EMPTY, |c| CellSet::one(c).flooded(&self.empty));
        flood == self.empty
    }

    /// Share of wall cells.
    pub fn wall_fraction(&self) -> f64 {
        self.walls.len() as f64 / CELLS as f64
    }

    /// Cell after a step; `None` if a wall or the edge blocks it.
    #[inline]
    pub fn step(&self, from: Cell, direction: Direction) -> Option<Cell> {
        from.step(direction).filter(|&to| self.is_empty(to))
    }

    /// Cells that can be reached with one step or by staying.
    pub fn steps(&self, from: Cell) -> impl Iterator<Item = Cell> + '_ {
        Direction::ALL.into_iter().filter_map(move |direction| self.step(from, direction))
    }
}

/// A list of columns: `map[x][y]`, 0 empty, 1 wall.
impl Serialize for Map {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut columns = serializer.serialize_seq(Some(SIDE))?;
        for x in 0..SIDE {
            columns.serialize_element(&self.walls.rows().map(|row| row >> x & 1))?;
        }
        columns.end()
    }
}

/// Map and spawn cells, determined by the two seeds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GameStart {
    /// Seed of the map, given or drawn.
    pub map_seed: u32,
    /// Seed of the spawn cells.
    pub game_seed: u32,
    /// The map.
    pub map: Map,
    /// Spawn cells of seeker and hider.
    pub spawns: [Cell; 2],
}

impl GameStart {
    /// Generates the start of a game. Without a map seed, the first draw of the game seed is the map seed.
    pub fn generate(map_seed: Option<u32>, game_seed: u32) -> Self {
        let mut rng = NumpyRng::new(game_seed);
        let map_seed = map_seed.unwrap_or_else(|| rng.below(1_000_000));
        let map = Map::generate(map_seed);
        let spawns = draw_spawns(&map, &mut rng);
        Self { map_seed, game_seed, map, spawns }
    }
}

/// Draws the spawn cells: the seeker anywhere, the hider in the opposite quadrant.
fn draw_spawns(map: &Map, rng: &mut NumpyRng) -> [Cell; 2] {
    let mut cells: Vec<Cell> = map.empty().iter().collect();
    // The public generator lists the cells column by column.
    cells.sort_unstable_by_key(|cell| (cell.x(), cell.y()));
    let mut draw =
        || cells.get(rng.below(cells.len() as u32) as usize).copied().unwrap_or(Cell::from_index(0));
    let seeker = draw();
    let allowed =
        |cell: Cell| in_opposite_quadrant(cell, seeker) && cell.manhattan(seeker) >= MIN_SPAWN_DISTANCE;
    if !cells.iter().any(|&cell| allowed(cell)) {
        // The quadrant has only walls. The public generator would loop forever.
        let furthest = cells.iter().copied().max_by_key(|cell| cell.manhattan(seeker));
        return [seeker, furthest.unwrap_or(seeker)];
    }
    loop {
        let hider = draw();
        if allowed(hider) {
            return [seeker, hider];
        }
    }
}

fn in_opposite_quadrant(a: Cell, b: Cell) -> bool {
    let half = SIDE / 2;
    (a.x() < half) != (b.x() < half) && (a.y() < half) != (b.y() < half)
}

/// Random numbers of `NumPy`'s legacy `RandomState`.
struct NumpyRng(Mt);

impl NumpyRng {
    fn new(seed: u32) -> Self {
        Self(Mt::new(seed))
    }

    /// A number from 0 to `n - 1`: draws are masked to the bits of `n - 1`, and values that are too large are rejected.
    fn below(&mut self, n: u32) -> u32 {
        let max = n.saturating_sub(1);
        let mask = u32::MAX.checked_shr(max.leading_zeros()).unwrap_or(0);
        if mask == 0 {
            return 0;
        }
        loop {
            let draw = self.0.next_u32() & mask;
            if draw <= max {
                return draw;
            }
        }
    }
}

/// Cells of each wall shape relative to the drawn cell, in the order of placement.
const SHAPES: [&[(i32, i32)]; 6] = [
    &[(0, 0)],
    &[(0, 0), (1, 0), (0, 1), (1, 1)],
    &[(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 0), (2, 1), (2, 2)],
    &[(0, 0), (0, 1), (1, 1)],
    &[(0, 0), (1, 0), (0, 1)],
    &[(0, 0), (1, 0), (1, 1)],
];

/// For each mask of empty neighbours (see [`Map::empty_neighbours`]): whether a wall in the middle may separate its four direct
/// neighbours from each other.
const MAY_SPLIT: [bool; 256] = {
    let mut table = [false; 256];
    let mut ring = 0;
    while ring < 256 {
        // Count the runs of empty cells around the ring that contain a direct neighbour (odd bits).
        let mut runs = 0;
        let mut start = 0;
        while start < 8 {
            let before = (start + 7) % 8;
            if ring >> start & 1 == 1 && ring >> before & 1 == 0 {
                let mut at = start;
                let mut direct = false;
                while ring >> at & 1 == 1 {
                    direct = direct || at % 2 == 1;
                    at = (at + 1) % 8;
                }
                runs += direct as usize;
            }
            start += 1;
        }
        table[ring] = runs > 1;
        ring += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Reference implementation: adds the wall and checks whether the map is connected.
    fn splits(map: &Map, cell: Cell) -> bool {
        let mut walls = *map.walls();
        walls.insert(cell);
        !Map::new(walls).is_connected()
    }

    #[test]
    fn would_split_agrees_with_a_flood_fill() {
        for seed in 0..40 {
            let map = Map::generate(seed);
            for cell in map.empty().iter() {
                assert_eq!(map.would_split(cell), splits(&map, cell), "seed {seed}, {cell}");
            }
        }
    }

    #[test]
    fn quadrant_of_walls_still_gives_spawn_cells() {
        let walls = Cell::all().filter(|c| (c.x() < 10) == (c.y() < 10)).collect();
        let [seeker, hider] = draw_spawns(&Map::new(walls), &mut NumpyRng::new(1));
        assert!(seeker.manhattan(hider) >= MIN_SPAWN_DISTANCE);
    }

    #[test]
    fn spawn_cells_closer_than_three_are_drawn_again() {
        let empty: CellSet =
            [(9, 9), (10, 10), (12, 12)].into_iter().filter_map(|(x, y)| Cell::new(x, y)).collect();
        let map = Map::new(empty.complement());
        for seed in 0..50 {
            let [seeker, hider] = draw_spawns(&map, &mut NumpyRng::new(seed));
            assert!(seeker.manhattan(hider) >= MIN_SPAWN_DISTANCE, "{seeker} {hider}");
        }
    }
}
