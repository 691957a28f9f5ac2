//! A plan: the intended final board.
//!
//! Written letters stay. Each other cell holds a wished letter or nothing. A wish costs one of the bot's own calls, unless the
//! opponent is expected to call that letter. Wishes within the remaining calls are safe, whatever the opponent calls. Simulated
//! annealing improves plans by small random changes.

use agon_core::FastRng;

use super::index::WordIndex;
use crate::word_racer::board::{Board, CELLS, EMPTY, LINES, Line, SIDE, cell_of};
use crate::word_racer::{WordList, line_points};

/// Cost model of a plan, and the letters expected from the opponent.
#[derive(Clone)]
pub(super) struct PlanCosts {
    /// Number of own calls left.
    pub(super) calls: f32,
    /// Expected number of opponent calls of each letter.
    pub(super) expected: [f32; 26],
    /// Number of those calls that the plan relies on.
    pub(super) supply: [f32; 26],
    /// Points that calling each letter gives to the opponent.
    pub(super) gift: [f32; 26],
    /// Cost in points of each wish without an own call left for it.
    pub(super) excess: f32,
}

/// A board with wished letters.
#[derive(Clone)]
pub(super) struct Plan {
    cells: [u8; CELLS],
    written: [bool; CELLS],
    lines: [u8; LINES],
    points: i32,
    wishes: [u8; 26],
}

/// Number of words drawn for a line at a time.
const WORDS_PER_DRAW: usize = 24;

/// Changed cells with their previous content.
type Undo = Vec<(usize, u8)>;

impl Plan {
    /// A plan without wishes.
    pub(super) fn new(words: &WordList, board: &Board) -> Self {
        let mut plan = Self {
            cells: *board.codes(),
            written: board.codes().map(|code| code != EMPTY),
            lines: [0; LINES],
            points: 0,
            wishes: [0; 26],
        };
        for line in 0..LINES {
            plan.rescore(words, line);
        }
        plan
    }

    /// Wished letter of a cell; [`EMPTY`] for none or for a written cell.
    pub(super) const fn wish(&self, cell: usize) -> u8 {
        if self.written[cell] { EMPTY } else { self.cells[cell] }
    }

    /// Writes a letter permanently.
    pub(super) fn write(&mut self, words: &WordList, cell: usize, code: u8) {
        self.set(words, cell, code);
        if !self.written[cell] {
            self.wishes[usize::from(code)] -= 1;
            self.written[cell] = true;
        }
    }

    /// Whether the plan belongs to this board.
    pub(super) fn is_for(&self, board: &Board) -> bool {
        board
            .codes()
            .iter()
            .zip(self.cells)
            .zip(self.written)
            .all(|((&code, cell), written)| if written { code == cell } else { code == EMPTY })
    }

    /// Value of the plan.
    pub(super) fn value(&self, costs: &PlanCosts) -> f32 {
        value(self.points, &self.wishes, costs)
    }

    /// Expected gain from the opponent's letters: for each letter, its best use in a cell without a wish, or the call it saves,
    /// times its expected number.
    pub(super) fn upside(&self, words: &WordList, expected: &[f32; 26], call: f32) -> f32 {
        let mut most = [0.0f32; 26];
        for (most, wished) in most.iter_mut().zip(self.wishes) {
            *most = if wished > 0 { call } else { 0.0 };
        }
        for cell in (0..CELLS).filter(|&cell| self.cells[cell] == EMPTY) {
            let (mut row, mut column) = (self.codes(cell / SIDE), self.codes(SIDE + cell % SIDE));
            let before = i32::from(self.lines[cell / SIDE]) + i32::from(self.lines[SIDE + cell % SIDE]);
            for (code, most) in most.iter_mut().enumerate() {
                row[cell % SIDE] = code as u8;
                column[cell / SIDE] = code as u8;
                let points = line_points(words, row) + line_points(words, column);
                *most = most.max((points as i32 - before) as f32);
            }
        }
        most.iter().zip(expected).map(|(most, expected)| most * expected).sum()
    }

    fn codes(&self, line: usize) -> Line {
        let mut codes = [EMPTY; SIDE];
        for (i, code) in codes.iter_mut().enumerate() {
            *code = self.cells[cell_of(line, i)];
        }
        codes
    }

    fn rescore(&mut self, words: &WordList, line: usize) {
        let points = line_points(words, self.codes(line)) as u8;
        self.points += i32::from(points) - i32::from(self.lines[line]);
        self.lines[line] = points;
    }

    fn change(&mut self, cell: usize, code: u8) {
        let before = std::mem::replace(&mut self.cells[cell], code);
        if !self.written[cell] {
            if let Some(count) = self.wishes.get_mut(usize::from(before)) {
                *count -= 1;
            }
            if let Some(count) = self.wishes.get_mut(usize::from(code)) {
                *count += 1;
            }
        }
    }

    fn set(&mut self, words: &WordList, cell: usize, code: u8) {
        if self.cells[cell] != code {
            self.change(cell, code);
            self.rescore(words, cell / SIDE);
            self.rescore(words, SIDE + cell % SIDE);
        }
    }

    fn undo(&mut self, words: &WordList, undo: &Undo) {
        for &(cell, code) in undo.iter().rev() {
            self.set(words, cell, code);
        }
    }
}

/// Points minus the value of the calls to the opponent, minus the cost of wishes without a call.
fn value(points: i32, wishes: &[u8; 26], costs: &PlanCosts) -> f32 {
    let (mut calls, mut gifts) = (0.0, 0.0);
    for ((&wished, supply), gift) in wishes.iter().zip(&costs.supply).zip(&costs.gift) {
        let own = (f32::from(wished) - supply).max(0.0);
        calls += own;
        gifts += own * gift;
    }
    points as f32 - gifts - costs.excess * (calls - costs.calls).max(0.0)
}

/// Approximates `exp(-loss)` with sums and products, because the library's `exp` differs between machines.
fn acceptance_probability(loss: f32) -> f64 {
    let x = f64::from(loss);
    1.0 / (1.0 + x * (1.0 + x / 2.0 * (1.0 + x / 3.0 * (1.0 + x / 4.0 * (1.0 + x / 5.0)))))
}

/// Simulated annealing of plans.
pub(super) struct Search<'a> {
    words: &'a WordList,
    index: &'a WordIndex,
    costs: &'a PlanCosts,
    rng: &'a mut FastRng,
    drawn: Vec<[u8; SIDE]>,
    undo: Undo,
}

impl<'a> Search<'a> {
    pub(super) fn new(words: &'a WordList, costs: &'a PlanCosts, rng: &'a mut FastRng) -> Self {
        Self { words, index: words.index(), costs, rng, drawn: Vec::new(), undo: Vec::new() }
    }

    /// Anneals a plan for this number of steps, from this temperature (in points) down to almost zero. The best plan found is kept.
    pub(super) fn anneal(&mut self, plan: &mut Plan, steps: u32, start_temperature: f32, lines: &[usize]) {
        let mut value = plan.value(self.costs);
        let (mut best, mut best_value) = (plan.clone(), value);
        for step in 0..steps {
            let temperature = start_temperature * (1.0 - step as f32 / steps as f32) + 0.05;
            self.undo.clear();
            match self.rng.below(8) {
                0..=3 => self.set_word(plan, lines),
                4..=6 => self.set_letter(plan, lines, temperature),
                _ => self.drop_word(plan, lines),
            }
            let new = plan.value(self.costs);
            if new >= value || self.rng.unit() < acceptance_probability((value - new) / temperature) {
                value = new;
                if value > best_value {
                    best_value = value;
                    best = plan.clone();
                }
            } else {
                let undo = std::mem::take(&mut self.undo);
                plan.undo(self.words, &undo);
                self.undo = undo;
            }
        }
        *plan = best;
        self.prune(plan);
    }

    fn put(&mut self, plan: &mut Plan, cell: usize, code: u8) {
        self.undo.push((cell, plan.cells[cell]));
        plan.set(self.words, cell, code);
    }

    /// Writes the best of some words that fit into a random part of a line.
    fn set_word(&mut self, plan: &mut Plan, lines: &[usize]) {
        let Some(line) = self.rng.pick(lines) else { return };
        let length = [3, 4, 5, 6, 6, 7, 7, 7][self.rng.below(8) as usize];
        let start = self.rng.below((SIDE - length + 1) as u32) as usize;
        let mut pattern = [EMPTY; SIDE];
        for (i, code) in pattern.iter_mut().enumerate().take(length) {
            let cell = cell_of(line, start + i);
            // Keep half of the crossing wishes, so that words cross.
            if plan.written[cell] || (plan.cells[cell] != EMPTY && self.rng.below(2) == 0) {
                *code = plan.cells[cell];
            }
        }
        let mut drawn = std::mem::take(&mut self.drawn);
        self.index.draw(&pattern[..length], WORDS_PER_DRAW, self.rng, &mut drawn);
        if let Some(word) = self.best_word(plan, line, start, length, &drawn) {
            for (i, &code) in word[..length].iter().enumerate() {
                self.put(plan, cell_of(line, start + i), code);
            }
        }
        self.drawn = drawn;
    }

    fn best_word(
        &mut self,
        plan: &Plan,
        line: usize,
        start: usize,
        length: usize,
        drawn: &[[u8; SIDE]],
    ) -> Option<[u8; SIDE]> {
        // Points of the crossing lines by place and letter, computed on demand.
        let mut crossing = [[u8::MAX; 27]; SIDE];
        let mut codes = plan.codes(line);
        let mut best: Option<(f32, [u8; SIDE])> = None;
        for word in drawn {
            let mut points = 0i32;
            let mut wishes = plan.wishes;
            for (i, &code) in word[..length].iter().enumerate() {
                let place = start + i;
                let cell = cell_of(line, place);
                if plan.cells[cell] != code {
                    if let Some(count) = wishes.get_mut(usize::from(plan.cells[cell])) {
                        *count -= 1;
                    }
                    wishes[usize::from(code)] += 1;
                }
                codes[place] = code;
                let known = &mut crossing[place][usize::from(code)];
                if *known == u8::MAX {
                    *known = self.crossing_points(plan, line, place, code);
                }
                points += i32::from(*known);
            }
            points += line_points(self.words, codes) as i32;
            let value = value(points, &wishes, self.costs);
            if best.is_none_or(|(most, _)| value > most) {
                best = Some((value, *word));
            }
        }
        best.map(|(_, word)| word)
    }

    fn crossing_points(&self, plan: &Plan, line: usize, place: usize, code: u8) -> u8 {
        let (across, index) = if line < SIDE { (SIDE + place, line) } else { (place, line - SIDE) };
        let mut codes = plan.codes(across);
        codes[index] = code;
        line_points(self.words, codes) as u8
    }

    /// Gives a cell the letter (or none) that is best for its row and column.
    fn set_letter(&mut self, plan: &mut Plan, lines: &[usize], temperature: f32) {
        let Some(line) = self.rng.pick(lines) else { return };
        let cell = cell_of(line, self.rng.below(SIDE as u32) as usize);
        if plan.written[cell] {
            return;
        }
        let before = plan.cells[cell];
        let (mut row, mut column) = (plan.codes(cell / SIDE), plan.codes(SIDE + cell % SIDE));
        let mut best = (f32::MIN, before);
        for code in (0..=EMPTY).filter(|&code| code != before) {
            row[cell % SIDE] = code;
            column[cell / SIDE] = code;
            let points = line_points(self.words, row) + line_points(self.words, column);
            let wished = plan.wishes.get(usize::from(code)).copied().unwrap_or(0);
            let supply = self.costs.supply.get(usize::from(code)).copied().unwrap_or(9.0);
            // A letter that the opponent will call anyway is cheaper. Noise finds alternatives.
            let call = self.costs.gift.get(usize::from(code)).map_or(0.0, |gift| gift.max(0.5));
            let price = if f32::from(wished) + 1.0 > supply { call } else { 0.0 };
            let noise = self.rng.unit() as f32 * (temperature + 0.5);
            let value = points as f32 - price + noise;
            if value > best.0 {
                best = (value, code);
            }
        }
        self.put(plan, cell, best.1);
    }

    /// Removes the wishes of a random part of a line.
    fn drop_word(&mut self, plan: &mut Plan, lines: &[usize]) {
        let Some(line) = self.rng.pick(lines) else { return };
        let length = 1 + self.rng.below(4) as usize;
        let start = self.rng.below((SIDE - length + 1) as u32) as usize;
        for cell in (start..start + length).map(|place| cell_of(line, place)) {
            if !plan.written[cell] && plan.cells[cell] != EMPTY {
                self.put(plan, cell, EMPTY);
            }
        }
    }

    /// Removes all wishes that give no points.
    fn prune(&mut self, plan: &mut Plan) {
        for cell in 0..CELLS {
            let code = plan.wish(cell);
            if code != EMPTY {
                let points = plan.points;
                plan.set(self.words, cell, EMPTY);
                if plan.points < points {
                    plan.set(self.words, cell, code);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::word_racer::{Letter, board_points};

    #[test]
    fn points_and_wishes_stay_consistent_during_annealing() {
        let words = WordList::built_in();
        let costs =
            PlanCosts { calls: 24.0, expected: [0.5; 26], supply: [0.1; 26], gift: [0.2; 26], excess: 5.0 };
        let mut board = Board::EMPTY;
        for (position, letter) in [(24, 'E'), (3, 'Q'), (40, 'S')] {
            board.put(position, Letter::read(letter).unwrap());
        }
        let mut plan = Plan::new(&words, &board);
        let lines: Vec<usize> = (0..LINES).collect();
        for seed in 0..5 {
            Search::new(&words, &costs, &mut FastRng::new(seed)).anneal(&mut plan, 300, 2.0, &lines);
            assert!(plan.is_for(&board));
            let mut wishes = [0; 26];
            let mut whole = board;
            for cell in 0..CELLS {
                if let Some(letter) = Letter::from_code(plan.wish(cell)) {
                    wishes[letter.index()] += 1;
                    whole.put(cell, letter);
                }
            }
            assert_eq!(plan.wishes, wishes);
            assert_eq!(plan.points, board_points(&words, &whole) as i32);
            assert!(plan.points > 20, "the plan has only {} points", plan.points);
        }
    }
}
