//! Alpha-beta search with chance nodes: the value of a move is averaged over the columns to which its piece may drift. Without
//! drift it is plain alpha-beta. Iterative deepening runs until a budget of positions is used up.

use super::drift::{Drift, PROBABILITY_SCALE};
use super::position::{MIDDLE_FIRST, OpenLines, Position, cells, column_mask, column_of};
use super::transposition_table::{Bound, TableEntry, TranspositionTable};
use crate::connect_five::board::{CELLS, COLUMNS};

/// Value of a win on an empty board. Each piece on the board reduces it by one.
const WIN_VALUE: i32 = 10_000;
/// Maximum heuristic value of a position that is not decided.
const MAX_HEURISTIC_VALUE: i32 = 7_000;
/// Values above this are wins that no drift can prevent.
const SURE_WIN: i32 = 9_000;
/// Advantage in lines that gives half of [`MAX_HEURISTIC_VALUE`].
const HEURISTIC_HALF_POINT: i32 = 400;
/// Value of having the move.
const TEMPO_BONUS: i32 = 6;
/// Margin around the search window within which the value of one outcome of a drift is computed.
const WINDOW_MARGIN: i32 = 1_000;
/// Number of moves of a position that are searched at full depth. Others are searched at reduced depth first.
const FULL_DEPTH_MOVES: usize = 3;
/// Minimum depth for this reduction.
const REDUCTION_MIN_DEPTH: i32 = 3;

/// Search with a budget of positions.
pub(super) struct Search {
    drift: Drift,
    /// Mask of the columns that never drift.
    fixed_cells: u64,
    table: TranspositionTable,
    /// History heuristic: how often a cell caused a cutoff, by side to move.
    history: [[i32; 64]; 2],
    positions: u32,
    budget: u32,
}

/// A position with its open lines.
struct EvaluatedPosition {
    position: Position,
    open: u64,
    pieces: i32,
    mine: OpenLines,
    theirs: OpenLines,
}

/// Result of a static evaluation.
enum QuickEval {
    Value(i32),
    Forced(usize),
    Unclear,
}

impl Search {
    pub(super) fn new(budget: u32) -> Self {
        let drift = Drift::default();
        Self {
            drift,
            fixed_cells: drift.fixed_cells(),
            table: TranspositionTable::new(),
            history: [[0; 64]; 2],
            positions: 0,
            budget,
        }
    }

    /// Sets the drift. A change clears the transposition table.
    pub(super) fn set_drift(&mut self, drift: Drift) {
        if drift != self.drift {
            self.drift = drift;
            self.fixed_cells = drift.fixed_cells();
            self.table.clear();
        }
    }

    /// Best column for the player to move. `noise` decides between nearly equal moves.
    pub(super) fn best(&mut self, position: Position, mut noise: impl FnMut() -> i32) -> usize {
        self.positions = 0;
        self.history.iter_mut().flatten().for_each(|count| *count /= 8);
        let has_room = |column: &usize| position.open_in(*column) != 0;
        let mut moves: Vec<(usize, i32)> =
            MIDDLE_FIRST.into_iter().filter(has_room).map(|column| (column, noise())).collect();
        let left = CELLS as i32 - position.taken().count_ones() as i32;
        for depth in 1..=left {
            // An iteration that exhausts the budget still counts: it started with the best move so far.
            let Some((best, value)) = self.best_at(position, depth, &moves) else { break };
            moves[..=best].rotate_right(1);
            if self.is_budget_spent() || value.abs() > SURE_WIN || moves.len() == 1 {
                break;
            }
        }
        moves.first().map_or(0, |&(column, _)| column)
    }

    /// Index of the best of these moves, and its value.
    fn best_at(&mut self, position: Position, depth: i32, moves: &[(usize, i32)]) -> Option<(usize, i32)> {
        let mut best: Option<(usize, i32)> = None;
        for (i, &(column, noise)) in moves.iter().enumerate() {
            let least = best.map_or(-WIN_VALUE, |(_, value)| value - noise);
            let value = self.drop_into(position, column, depth - 1, least, WIN_VALUE) + noise;
            if self.is_budget_spent() {
                break;
            }
            if best.is_none_or(|(_, most)| value > most) {
                best = Some((i, value));
            }
        }
        best
    }

    #[inline]
    const fn is_budget_spent(&self) -> bool {
        self.positions >= self.budget
    }

    /// Value of naming a column, averaged over the cells where the piece may land.
    fn drop_into(&mut self, position: Position, column: usize, depth: i32, alpha: i32, beta: i32) -> i32 {
        let outcomes = self.drift.outcomes(position, column);
        if outcomes[0].1 == PROBABILITY_SCALE {
            return self.value_after_landing(position, outcomes[0].0, depth, alpha, beta);
        }
        let (mut sum, mut rest) = (0, PROBABILITY_SCALE);
        for (cell, parts) in outcomes.into_iter().filter(|&(_, parts)| parts > 0) {
            rest -= parts;
            // Range of this outcome's value for which the average lies between alpha and beta.
            let least =
                (alpha * PROBABILITY_SCALE - sum - WIN_VALUE * rest).div_euclid(parts).max(-WIN_VALUE);
            let most =
                ((beta * PROBABILITY_SCALE - sum + WIN_VALUE * rest).div_euclid(parts) + 1).min(WIN_VALUE);
            // A move with three outcomes is searched less deep and with less precision.
            let (low, high) = (least.max(alpha - WINDOW_MARGIN), most.min(beta + WINDOW_MARGIN));
            let value = self.value_after_landing(position, cell, depth - 1, low, high);
            sum += parts * value;
            if value <= least && least > -WIN_VALUE {
                return ((sum + WIN_VALUE * rest) / PROBABILITY_SCALE).min(alpha);
            }
            if value >= most && most < WIN_VALUE {
                return ((sum - WIN_VALUE * rest) / PROBABILITY_SCALE).max(beta);
            }
        }
        sum / PROBABILITY_SCALE
    }

    /// Value after a piece has landed in a cell.
    #[inline]
    fn value_after_landing(
        &mut self,
        position: Position,
        cell: u64,
        depth: i32,
        alpha: i32,
        beta: i32,
    ) -> i32 {
        let next = position.after(cell);
        if next.is_lost() {
            return WIN_VALUE - next.taken().count_ones() as i32;
        }
        -self.value(next, depth, -beta, -alpha)
    }

    /// Value of a position for the player to move.
    fn value(&mut self, position: Position, depth: i32, alpha: i32, beta: i32) -> i32 {
        self.positions += 1;
        let open = position.open();
        if self.is_budget_spent() || open == 0 {
            return 0;
        }
        let evaluated = EvaluatedPosition {
            position,
            open,
            pieces: position.taken().count_ones() as i32,
            mine: OpenLines::of(position.own, position.other),
            theirs: OpenLines::of(position.other, position.own),
        };
        match self.quick_eval(&evaluated, depth) {
            QuickEval::Value(value) => value,
            // Forced moves do not reduce the depth, so they are followed to their end.
            QuickEval::Forced(column) => self.drop_into(position, column, depth, alpha, beta),
            QuickEval::Unclear => {
                let known = self.table.get(position);
                match known.and_then(|entry| entry.decides(depth, alpha, beta)) {
                    Some(value) => value,
                    None => self.search_moves(&evaluated, depth, alpha, beta, known.map(|entry| entry.best)),
                }
            }
        }
    }

    fn quick_eval(&self, evaluated: &EvaluatedPosition, depth: i32) -> QuickEval {
        let EvaluatedPosition { open, pieces, .. } = *evaluated;
        let (wins, dangers) = (evaluated.mine.fifth & open, evaluated.theirs.fifth & open);
        if wins & self.fixed_cells != 0 {
            return QuickEval::Value(WIN_VALUE - pieces - 1);
        }
        // Blocking is forced only if no drift can win first.
        let certain = dangers & self.fixed_cells;
        if wins == 0 && certain != 0 {
            if !certain.is_power_of_two() {
                return QuickEval::Value(pieces + 2 - WIN_VALUE);
            }
            return QuickEval::Forced(column_of(certain));
        }
        if depth > 0 { QuickEval::Unclear } else { QuickEval::Value(self.evaluate(evaluated)) }
    }

    /// Heuristic value of a position from its lines.
    fn evaluate(&self, evaluated: &EvaluatedPosition) -> i32 {
        let mark = evaluated.position.mover();
        let edge = evaluated.mine.value_of(mark) - evaluated.theirs.value_of(mark.other()) + TEMPO_BONUS;
        let calm = MAX_HEURISTIC_VALUE * edge / (edge.abs() + HEURISTIC_HALF_POINT);
        let (wins, dangers) =
            (evaluated.mine.fifth & evaluated.open, evaluated.theirs.fifth & evaluated.open);
        if wins | dangers == 0 {
            return calm;
        }
        // A win depends on a drift: first the own one, then the opponent's if this side neither wins nor blocks.
        let win = self.best_hit_probability(evaluated.position, wins);
        let block = self.best_hit_probability(evaluated.position, dangers);
        let lose = (PROBABILITY_SCALE - win.max(block)) * block / PROBABILITY_SCALE;
        let won = WIN_VALUE - evaluated.pieces - 1;
        (win * won - lose * (won - 1) + (PROBABILITY_SCALE - win - lose) * calm) / PROBABILITY_SCALE
    }

    /// Highest probability that a drop lands in one of these cells, in units of 1/[`PROBABILITY_SCALE`].
    fn best_hit_probability(&self, position: Position, goal: u64) -> i32 {
        let chance = |column| {
            let outcomes = self.drift.outcomes(position, column);
            outcomes.iter().filter(|(cell, _)| cell & goal != 0).map(|(_, parts)| parts).sum::<i32>()
        };
        if goal == 0 { 0 } else { position.columns().map(chance).max().unwrap_or(0) }
    }

    /// Value of a position by searching its moves.
    fn search_moves(
        &mut self,
        evaluated: &EvaluatedPosition,
        depth: i32,
        alpha: i32,
        beta: i32,
        first: Option<u8>,
    ) -> i32 {
        let position = evaluated.position;
        let side = position.mover() as usize;
        let mut moves = self.ordered_moves(evaluated, first, side);
        let (mut best, mut best_value, mut least) = (0, -WIN_VALUE, alpha);
        for i in 0..moves.count {
            let column = moves.next(i);
            let value = if i == 0 {
                self.drop_into(position, column, depth - 1, least, beta)
            } else {
                self.search_late_move(position, column, (depth, i), least, beta)
            };
            if self.is_budget_spent() {
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
        self.table.put(position, TableEntry::new(best_value, depth, best, bound));
        best_value
    }

    /// Searches a move that is probably not the best: with a null window first, and late moves at reduced depth.
    fn search_late_move(
        &mut self,
        position: Position,
        column: usize,
        (depth, i): (i32, usize),
        least: i32,
        beta: i32,
    ) -> i32 {
        let less = i32::from(i >= FULL_DEPTH_MOVES && depth >= REDUCTION_MIN_DEPTH);
        let value = self.drop_into(position, column, depth - 1 - less, least, least + 1);
        if value > least && (less > 0 || value < beta) && !self.is_budget_spent() {
            return self.drop_into(position, column, depth - 1, least, beta);
        }
        value
    }

    /// Columns with room, each with a priority.
    fn ordered_moves(&self, evaluated: &EvaluatedPosition, first: Option<u8>, side: usize) -> OrderedMoves {
        let mut moves = OrderedMoves { list: [(0, 0); COLUMNS], count: 0 };
        let (mine, theirs) = (&evaluated.mine, &evaluated.theirs);
        for cell in cells(evaluated.open) {
            let column = column_of(cell);
            let holds = |set: u64| i32::from(set & cell != 0);
            let mut early = self.history[side][bit(cell)] + 4 - (column as i32 - 4).abs();
            early += holds(mine.fifth | theirs.fifth) * 100_000;
            early += holds(mine.fourth) * 60 + holds(theirs.fourth) * 40;
            // A piece that lets the opponent complete five on top of it.
            early -=
                i32::from(theirs.fifth & self.fixed_cells & column_mask(column) & cell << 1 != 0) * 200_000;
            early += i32::from(first.map(usize::from) == Some(column)) * 1_000_000;
            moves.list[moves.count] = (early, column);
            moves.count += 1;
        }
        moves
    }
}

/// Bit number of a cell.
#[inline]
const fn bit(cell: u64) -> usize {
    cell.trailing_zeros() as usize & 63
}

/// Columns to search, selected best first.
struct OrderedMoves {
    list: [(i32, usize); COLUMNS],
    count: usize,
}

impl OrderedMoves {
    /// The `i`th best column. Must be called in order.
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

    /// Position after dropping into these columns without drift.
    fn after(columns: &[usize]) -> Position {
        columns.iter().fold(Position { own: 0, other: 0 }, |p, &column| p.after(p.open_in(column)))
    }

    #[test]
    fn search_wins_and_blocks_in_one_move() {
        let mut search = Search::new(2_000);
        assert_eq!(search.best(after(&[8, 7, 8, 7, 8, 7, 8, 7]), || 0), 8);
        assert_eq!(search.best(after(&[8, 7, 8, 7, 8, 7, 8]), || 0), 8);
    }

    #[test]
    fn search_makes_an_open_four() {
        // Three in the bottom row with both sides open: a fourth piece beside them cannot be stopped.
        let mut search = Search::new(5_000);
        let column = search.best(after(&[3, 3, 4, 4, 5, 0]), || 0);
        assert!([2, 6].contains(&column), "{column}");
    }

    #[test]
    fn search_reaches_a_winning_cell_by_drift() {
        // Four in column 4. That column never keeps a piece, but column 3 drifts most of its pieces to the right.
        let mut search = Search::new(2_000);
        let mut drift = Drift::default();
        (drift.left[4], drift.right[4]) = (512, 512);
        drift.right[3] = 900;
        search.set_drift(drift);
        assert_eq!(search.best(after(&[4, 0, 4, 0, 4, 0, 4, 1]), || 0), 3);
    }

    #[test]
    fn search_respects_its_budget() {
        for budget in [1, 10, 1_000, 20_000] {
            let mut search = Search::new(budget);
            let column = search.best(after(&[4, 4, 3]), || 0);
            assert!(column < COLUMNS && search.positions <= budget + 20 * COLUMNS as u32);
        }
    }
}
