//! starter-bot: a seeker that goes where it last saw the hider or searches the room, and a hider that runs away.
//!
//! The same program plays both roles; the observation says which.

mod agon;

use std::collections::VecDeque;

use agon::{Answer, Bot, Json, Random};

const FAR: i64 = 1000;

/// Position: x and y.
type Cell = (usize, usize);

/// A number for each cell: `grid[x][y]`.
type CellNumbers = Vec<Vec<i64>>;

#[derive(Default)]
struct MyBot {
    /// Where the seeker expects the hider.
    trail: Option<Cell>,
    /// How often the seeker has visited each cell.
    visits: CellNumbers,
}

impl Bot for MyBot {
    fn start(&mut self, _message: &Json) {
        *self = Self::default();
    }

    fn turn(&mut self, seen: &Json, _random: &mut Random) -> Answer {
        let map = seen.get("game_map").grid();
        if seen.get("role").text() == "seeker" { self.seek(seen, &map).into() } else { hide(seen, &map).into() }
    }
}

impl MyBot {
    fn seek(&mut self, seen: &Json, map: &CellNumbers) -> &'static str {
        let here = cell(seen.get("pos"));
        if self.visits.is_empty() {
            self.visits = map.iter().map(|column| vec![0; column.len()]).collect();
        }
        self.visits[here.0][here.1] += 1;
        if seen.get("enemy_is_visible").yes() || seen.get("step").whole() == 1 {
            self.trail = Some(cell(seen.get("enemy_pos")));
        } else if self.trail == Some(here) {
            self.trail = None; // it is not there
        }
        // Your idea goes here: where can the hider be now? From where would you see most of these cells?
        let goal = self.trail.unwrap_or_else(|| self.least_visited(map, here));
        let ways = distances(map, goal);
        let mut best = ("STAY", here);
        for step in steps(map, here) {
            if at(&ways, step.1) < at(&ways, best.1) {
                best = step;
            }
        }
        best.0
    }

    /// The nearest of the cells that I have visited least often.
    fn least_visited(&self, map: &CellNumbers, here: Cell) -> Cell {
        let ways = distances(map, here);
        let cells = (0..map.len()).flat_map(|x| (0..map[x].len()).map(move |y| (x, y)));
        let reached = cells.filter(|&there| there != here && at(&ways, there) < FAR);
        reached.min_by_key(|&there| (at(&self.visits, there), at(&ways, there))).unwrap_or(here)
    }
}

fn hide(seen: &Json, map: &CellNumbers) -> &'static str {
    let ways = distances(map, cell(seen.get("enemy_pos")));
    // Your idea goes here: being out of sight is better than being far away. Avoid dead ends.
    let mut best = ("STAY", cell(seen.get("pos")));
    for step in steps(map, best.1) {
        if at(&ways, step.1) > at(&ways, best.1) {
            best = step;
        }
    }
    best.0
}

fn cell(pos: &Json) -> Cell {
    (pos.at(0).whole() as usize, pos.at(1).whole() as usize)
}

fn at(grid: &CellNumbers, cell: Cell) -> i64 {
    grid[cell.0][cell.1]
}

/// The possible steps from a cell.
fn steps(map: &CellNumbers, (x, y): Cell) -> Vec<(&'static str, Cell)> {
    // 0 - 1 wraps to a huge number, which is outside the map too.
    let around = [
        ("LEFT", (x.wrapping_sub(1), y)),
        ("RIGHT", (x + 1, y)),
        ("UP", (x, y.wrapping_sub(1))),
        ("DOWN", (x, y + 1)),
    ];
    let is_free = |(x, y): Cell| map.get(x).and_then(|column| column.get(y)) == Some(&0);
    around.into_iter().filter(|step| is_free(step.1)).collect()
}

/// Number of steps from a cell to each other cell.
fn distances(map: &CellNumbers, start: Cell) -> CellNumbers {
    let mut ways: CellNumbers = map.iter().map(|column| vec![FAR; column.len()]).collect();
    ways[start.0][start.1] = 0;
    let mut queue = VecDeque::from([start]);
    while let Some(here) = queue.pop_front() {
        for (_, there) in steps(map, here) {
            if at(&ways, there) == FAR {
                ways[there.0][there.1] = at(&ways, here) + 1;
                queue.push_back(there);
            }
        }
    }
    ways
}

fn main() {
    agon::run(&mut MyBot::default());
}
