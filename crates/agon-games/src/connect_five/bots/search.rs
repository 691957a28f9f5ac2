//! Alpha-beta search with chance: each move is weighed over the columns its piece may drift to. Without drift it is
//! plain alpha-beta. Work is limited by a number of positions, deepening step by step until it is used up.

use super::drift::{Drift, PARTS};
use super::position::{Lines, MIDDLE_FIRST, Position, cells, column_mask, column_of};
use super::table::{Bound, Entry, Table};
use crate::connect_five::board::{CELLS, COLUMNS};

/// A win on an empty board would be worth so much; each piece until then takes one off.
const WIN: i32 = 10_000;
/// No judgement of an open game is worth more.
const MOST: i32 = 7_000;
/// More than this is a win that no drift can take away.
const SURE: i32 = 9_000;
/// An edge in lines of this size is worth half of [`MOST`].
const HALF_WAY: i32 = 400;
/// What it is worth to be the one to move.
const TEMPO: i32 = 6;
/// How far beyond what matters the value of one outcome of a drift is still worked out.
const MARGIN: i32 = 1_000;
/// So many moves of a position are looked at fully; the others first a little less deep.
const FULLY: usize = 3;
/// From this depth on.
const FULL_DEPTH: i32 = 3;

/// Thinks ahead within a number of positions.
pub(super) struct Search {
    drift: Drift,
    /// All cells of columns that never drift.
    still: u64,
    table: Table,
    /// How often a cell has been the refutation, by side to move.
    history: [[i32; 64]; 2],
    positions: u32,
    budget: u32,
}

/// A position with its open lines.
struct Sight {
    position: Position,
    open: u64,
    pieces: i32,
    mine: Lines,
    theirs: Lines,
}

/// What can be said of a position without looking ahead.
enum Glance {
    Value(i32),
    Forced(usize),
    Unclear,
}

impl Search {
    pub(super) fn new(budget: u32) -> Self {
        let drift = Drift::default();
        Self { drift, still: drift.still(), table: Table::new(), history: [[0; 64]; 2], positions: 0, budget }
    }

    /// From now on pieces drift like this. What was thought under another belief is forgotten.
    pub(super) fn believe(&mut self, drift: Drift) {
        if drift != self.drift {
            self.drift = drift;
            self.still = drift.still();
            self.table.clear();
        }
    }

    /// The best column for who is to move. `noise` settles what is nearly equal.
    pub(super) fn best(&mut self, position: Position, mut noise: impl FnMut() -> i32) -> usize {
        self.positions = 0;
        self.history.iter_mut().flatten().for_each(|count| *count /= 8);
        let has_room = |column: &usize| position.open_in(*column) != 0;
        let mut moves: Vec<(usize, i32)> =
            MIDDLE_FIRST.into_iter().filter(has_room).map(|column| (column, noise())).collect();
        let left = CELLS as i32 - position.taken().count_ones() as i32;
        for depth in 1..=left {
            // A step that runs out of positions still counts as far as it got: it began with the best so far.
            let Some((best, value)) = self.best_at(position, depth, &moves) else { break };
            moves[..=best].rotate_right(1);
            if self.is_spent() || value.abs() > SURE || moves.len() == 1 {
                break;
            }
        }
        moves.first().map_or(0, |&(column, _)| column)
    }

    /// The best of these moves, by its place in the list, and its value.
    fn best_at(&mut self, position: Position, depth: i32, moves: &[(usize, i32)]) -> Option<(usize, i32)> {
        let mut best: Option<(usize, i32)> = None;
        for (i, &(column, noise)) in moves.iter().enumerate() {
            let least = best.map_or(-WIN, |(_, value)| value - noise);
            let value = self.drop_into(position, column, depth - 1, least, WIN) + noise;
            if self.is_spent() {
                break;
            }
            if best.is_none_or(|(_, most)| value > most) {
                best = Some((i, value));
            }
        }
        best
    }

    #[inline]
    const fn is_spent(&self) -> bool {
        self.positions >= self.budget
    }

    /// The value of naming a column, over all places where the piece may land.
    fn drop_into(&mut self, position: Position, column: usize, depth: i32, alpha: i32, beta: i32) -> i32 {
        let outcomes = self.drift.outcomes(position, column);
        if outcomes[0].1 == PARTS {
            return self.land(position, outcomes[0].0, depth, alpha, beta);
        }
        let (mut sum, mut rest) = (0, PARTS);
        for (cell, parts) in outcomes.into_iter().filter(|&(_, parts)| parts > 0) {
            rest -= parts;
            // What this outcome must be worth for the whole to end up between alpha and beta.
            let least = (alpha * PARTS - sum - WIN * rest).div_euclid(parts).max(-WIN);
            let most = ((beta * PARTS - sum + WIN * rest).div_euclid(parts) + 1).min(WIN);
            // Three outcomes for one move: a little less deep, and not to the last point.
            let (low, high) = (least.max(alpha - MARGIN), most.min(beta + MARGIN));
            let value = self.land(position, cell, depth - 1, low, high);
            sum += parts * value;
            if value <= least && least > -WIN {
                return ((sum + WIN * rest) / PARTS).min(alpha);
            }
            if value >= most && most < WIN {
                return ((sum - WIN * rest) / PARTS).max(beta);
            }
        }
        sum / PARTS
    }

    /// The value of a piece having landed in a cell.
    #[inline]
    fn land(&mut self, position: Position, cell: u64, depth: i32, alpha: i32, beta: i32) -> i32 {
        let next = position.after(cell);
        if next.is_lost() {
            return WIN - next.taken().count_ones() as i32;
        }
        -self.value(next, depth, -beta, -alpha)
    }

    /// The value of a position for who is to move.
    fn value(&mut self, position: Position, depth: i32, alpha: i32, beta: i32) -> i32 {
        self.positions += 1;
        let open = position.open();
        if self.is_spent() || open == 0 {
            return 0;
        }
        let sight = Sight {
            position,
            open,
            pieces: position.taken().count_ones() as i32,
            mine: Lines::of(position.own, position.other),
            theirs: Lines::of(position.other, position.own),
        };
        match self.glance(&sight, depth) {
            Glance::Value(value) => value,
            // Not counted as a step: forced moves are followed to their end.
            Glance::Forced(column) => self.drop_into(position, column, depth, alpha, beta),
            Glance::Unclear => {
                let known = self.table.get(position);
                match known.and_then(|entry| entry.decides(depth, alpha, beta)) {
                    Some(value) => value,
                    None => self.try_all(&sight, depth, alpha, beta, known.map(|entry| entry.best)),
                }
            }
        }
    }

    fn glance(&self, sight: &Sight, depth: i32) -> Glance {
        let Sight { open, pieces, .. } = *sight;
        let (wins, dangers) = (sight.mine.fifth & open, sight.theirs.fifth & open);
        if wins & self.still != 0 {
            return Glance::Value(WIN - pieces - 1);
        }
        // Only when no drift can win for us is the answer to a certain danger forced.
        let certain = dangers & self.still;
        if wins == 0 && certain != 0 {
            if !certain.is_power_of_two() {
                return Glance::Value(pieces + 2 - WIN);
            }
            return Glance::Forced(column_of(certain));
        }
        if depth > 0 { Glance::Unclear } else { Glance::Value(self.judge(sight)) }
    }

    /// The value of a position by its lines alone.
    fn judge(&self, sight: &Sight) -> i32 {
        let mark = sight.position.mover();
        let edge = sight.mine.worth(mark) - sight.theirs.worth(mark.other()) + TEMPO;
        let calm = MOST * edge / (edge.abs() + HALF_WAY);
        let (wins, dangers) = (sight.mine.fifth & sight.open, sight.theirs.fifth & sight.open);
        if wins | dangers == 0 {
            return calm;
        }
        // Five hangs on a drift: ours first, then theirs if we neither win nor block.
        let win = self.likeliest(sight.position, wins);
        let block = self.likeliest(sight.position, dangers);
        let lose = (PARTS - win.max(block)) * block / PARTS;
        let won = WIN - sight.pieces - 1;
        (win * won - lose * (won - 1) + (PARTS - win - lose) * calm) / PARTS
    }

    /// How likely the best drop lands in one of these cells, in [`PARTS`].
    fn likeliest(&self, position: Position, goal: u64) -> i32 {
        let chance = |column| {
            let outcomes = self.drift.outcomes(position, column);
            outcomes.iter().filter(|(cell, _)| cell & goal != 0).map(|(_, parts)| parts).sum::<i32>()
        };
        if goal == 0 { 0 } else { position.columns().map(chance).max().unwrap_or(0) }
    }

    /// The value of a position by trying its moves.
    fn try_all(&mut self, sight: &Sight, depth: i32, alpha: i32, beta: i32, first: Option<u8>) -> i32 {
        let position = sight.position;
        let side = position.mover() as usize;
        let mut moves = self.ordered(sight, first, side);
        let (mut best, mut best_value, mut least) = (0, -WIN, alpha);
        for i in 0..moves.count {
            let column = moves.next(i);
            let value = if i == 0 {
                self.drop_into(position, column, depth - 1, least, beta)
            } else {
                self.try_late(position, column, (depth, i), least, beta)
            };
            if self.is_spent() {
                return 0;
            }
            if value > best_value || i == 0 {
                (best, best_value) = (column, value);
            }
            least = least.max(value);
            if least >= beta {
                self.history[side][bit(position.open_in(column))] += depth * depth + 1;
                break;
            }
        }
        let bound = if best_value >= beta {
            Bound::AtLeast
        } else if best_value <= alpha {
            Bound::AtMost
        } else {
            Bound::Exact
        };
        self.table.put(position, Entry::new(best_value, depth, best, bound));
        best_value
    }

    /// A move that is probably not the best: first only whether it is better at all, late ones less deep.
    fn try_late(
        &mut self,
        position: Position,
        column: usize,
        (depth, i): (i32, usize),
        least: i32,
        beta: i32,
    ) -> i32 {
        let less = i32::from(i >= FULLY && depth >= FULL_DEPTH);
        let value = self.drop_into(position, column, depth - 1 - less, least, least + 1);
        if value > least && (less > 0 || value < beta) && !self.is_spent() {
            return self.drop_into(position, column, depth - 1, least, beta);
        }
        value
    }

    /// The columns with room, each with a number that says how early to try it.
    fn ordered(&self, sight: &Sight, first: Option<u8>, side: usize) -> Moves {
        let mut moves = Moves { list: [(0, 0); COLUMNS], count: 0 };
        let (mine, theirs) = (&sight.mine, &sight.theirs);
        for cell in cells(sight.open) {
            let column = column_of(cell);
            let holds = |set: u64| i32::from(set & cell != 0);
            let mut early = self.history[side][bit(cell)] + 4 - (column as i32 - 4).abs();
            early += holds(mine.fifth | theirs.fifth) * 100_000;
            early += holds(mine.fourth) * 60 + holds(theirs.fourth) * 40;
            // A piece that lets the opponent complete five on top of it.
            early -= i32::from(theirs.fifth & self.still & column_mask(column) & cell << 1 != 0) * 200_000;
            early += i32::from(first.map(usize::from) == Some(column)) * 1_000_000;
            moves.list[moves.count] = (early, column);
            moves.count += 1;
        }
        moves
    }
}

/// The number of a cell.
#[inline]
const fn bit(cell: u64) -> usize {
    cell.trailing_zeros() as usize & 63
}

/// Columns to try, taken out best first.
struct Moves {
    list: [(i32, usize); COLUMNS],
    count: usize,
}

impl Moves {
    /// The `i`th best column; the ones before it have been taken.
    #[inline]
    fn next(&mut self, i: usize) -> usize {
        let mut best = i;
        for j in i + 1..self.count {
            if self.list[j].0 > self.list[best].0 {
                best = j;
            }
        }
        self.list.swap(i, best);
        self.list[i].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A position from columns dropped into without drift.
    fn after(columns: &[usize]) -> Position {
        columns.iter().fold(Position { own: 0, other: 0 }, |p, &column| p.after(p.open_in(column)))
    }

    #[test]
    fn it_wins_and_blocks_in_one() {
        let mut search = Search::new(2_000);
        assert_eq!(search.best(after(&[8, 7, 8, 7, 8, 7, 8, 7]), || 0), 8);
        assert_eq!(search.best(after(&[8, 7, 8, 7, 8, 7, 8]), || 0), 8);
    }

    #[test]
    fn it_makes_an_open_four() {
        // Three in the bottom row with both sides open: a fourth in the middle of them cannot be stopped.
        let mut search = Search::new(5_000);
        let column = search.best(after(&[3, 3, 4, 4, 5, 0]), || 0);
        assert!([2, 6].contains(&column), "{column}");
    }

    #[test]
    fn it_reaches_a_winning_cell_through_a_drift() {
        // Four in column 4; the column never keeps a piece, but column 3 throws nearly all of them to the right.
        let mut search = Search::new(2_000);
        let mut drift = Drift::default();
        (drift.left[4], drift.right[4]) = (512, 512);
        drift.right[3] = 900;
        search.believe(drift);
        assert_eq!(search.best(after(&[4, 0, 4, 0, 4, 0, 4, 1]), || 0), 3);
    }

    #[test]
    fn it_keeps_to_its_budget() {
        for budget in [1, 10, 1_000, 20_000] {
            let mut search = Search::new(budget);
            let column = search.best(after(&[4, 4, 3]), || 0);
            assert!(column < COLUMNS && search.positions <= budget + 20 * COLUMNS as u32);
        }
    }
}
