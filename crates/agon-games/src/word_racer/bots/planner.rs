//! Bots that keep a [`Plan`] for the whole board and bend it to what the other one calls.

use agon_core::{Bot, QuickRng};

use super::plan::{Plan, Search, Terms};
use super::simple::answer;
use crate::word_racer::board::{CELLS, LINES, SIDE};
use crate::word_racer::{Answer, Letter, Observation, TURNS, WordRacer};

/// How much a planner thinks and what it expects.
#[derive(Clone, Copy)]
pub(super) struct Style {
    /// Steps for the first plan.
    pub(super) first: u32,
    /// Steps for each call later on.
    pub(super) call: u32,
    /// Cells looked at closely for a letter of the other's.
    pub(super) cells: usize,
    /// Steps for each of them.
    pub(super) place: u32,
    /// What part of the letters expected from the other is relied on.
    pub(super) trust: f32,
    /// What each wish costs that no own call is left for, in points.
    pub(super) excess: f32,
    /// What calling a letter of average frequency gives to the other, in points.
    pub(super) gift: f32,
    /// What part of the points counts that letters of the other may add to the plan.
    pub(super) upside: f32,
    /// With fewer own calls left than this, wishes that cannot be called cost [`STRICT`].
    pub(super) strict: usize,
}

impl Style {
    /// Wants safe points and does not mind what its calls do for the other.
    pub(super) const PLANNER: Self = Self {
        first: 2000,
        call: 200,
        cells: 8,
        place: 30,
        trust: 0.2,
        excess: 5.0,
        gift: 0.0,
        upside: 0.0,
        strict: 0,
    };

    /// Would rather call letters the other has little use for, and at first wishes for more than it can call
    /// itself. Measured in games against random calls, a letter was worth to the one who got it about 1.9
    /// points times its frequency (1 for an average letter).
    pub(super) const STRATEGIST: Self = Self {
        first: 3000,
        call: 400,
        cells: 16,
        place: 40,
        trust: 0.0,
        excess: 1.1,
        gift: 2.1,
        upside: 0.2,
        strict: 15,
    };
}

/// What a wish costs near the end that no own call is left for, in points: about what its letter would add.
const STRICT: f32 = 4.0;

/// What an own call is worth that the other makes unnecessary, in points.
const SAVED: f32 = 2.0;

/// As many calls by the frequency of letters are assumed to precede the other's own.
const PRIOR: f32 = 12.0;

const ALL_LINES: [usize; LINES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13];

/// Keeps a plan.
pub(super) struct Planner {
    style: Style,
    rng: QuickRng,
    plan: Option<Plan>,
}

impl Planner {
    pub(super) const fn new(style: Style) -> Self {
        Self { style, rng: QuickRng::new(0), plan: None }
    }

    /// Own calls left (the one at hand included) and what the other is expected to call.
    fn terms(&self, seen: &Observation<'_>) -> Terms {
        let left = TURNS.saturating_sub(seen.places.len() + usize::from(seen.letter.is_some()));
        // Whether it calls now or places now, the next call is its own.
        let own = left.div_ceil(2);
        let others = (left - own) as f32;
        let mut calls = [0.0f32; 26];
        for (_, letter) in seen.calls.iter().enumerate().filter(|(turn, _)| !seen.called(*turn)) {
            calls[letter.index()] += 1.0;
        }
        let total: f32 = calls.iter().sum();
        let frequency = &seen.words.index().frequency;
        let mut expected = [0.0; 26];
        for ((expected, called), usual) in expected.iter_mut().zip(calls).zip(frequency) {
            *expected = others * (called + PRIOR * usual) / (total + PRIOR);
        }
        Terms {
            calls: own as f32,
            expected,
            supply: expected.map(|expected| self.style.trust * expected),
            gift: frequency.map(|usual| self.style.gift * usual * 26.0),
            excess: if own < self.style.strict { STRICT } else { self.style.excess },
        }
    }

    fn anneal(&mut self, seen: &Observation<'_>, terms: &Terms, plan: &mut Plan, how: (u32, f32, &[usize])) {
        let (steps, hot, lines) = how;
        Search::new(seen.words, terms, &mut self.rng).anneal(plan, steps, hot, lines);
    }

    /// The plan so far, improved before a call; a new one at the start.
    fn current_plan(&mut self, seen: &Observation<'_>, terms: &Terms) -> Plan {
        let known = self.plan.take().filter(|plan| plan.is_for(seen.board));
        let (steps, hot) = match (&known, seen.letter) {
            (None, _) => (self.style.first, 3.0),
            (Some(_), None) => (self.style.call, 1.0),
            (Some(_), Some(_)) => (0, 1.0),
        };
        let mut plan = known.unwrap_or_else(|| Plan::new(seen.words, seen.board));
        if steps > 0 {
            self.anneal(seen, terms, &mut plan, (steps, hot, &ALL_LINES));
        }
        plan
    }

    /// What a plan is worth with what may be added to it.
    fn worth(&self, seen: &Observation<'_>, plan: &Plan, terms: &Terms) -> f32 {
        let value = plan.value(terms);
        if self.style.upside == 0.0 {
            return value;
        }
        value + self.style.upside * plan.upside(seen.words, &terms.expected, SAVED)
    }

    /// Where a letter goes, and the plan after it: the best cells at first sight are looked at closely.
    fn place(&mut self, seen: &Observation<'_>, plan: &Plan, terms: &Terms, letter: Letter) -> (usize, Plan) {
        let mut cells: Vec<(f32, usize, Plan)> = seen
            .board
            .free()
            .map(|cell| {
                let mut next = plan.clone();
                next.write(seen.words, cell, letter.code());
                // A hair of chance between equals.
                (next.value(terms) + self.rng.unit() as f32 * 0.01, cell, next)
            })
            .collect();
        cells.sort_by(|a, b| b.0.total_cmp(&a.0));
        cells.truncate(self.style.cells);
        for (worth, cell, next) in &mut cells {
            let lines = [*cell / SIDE, SIDE + *cell % SIDE];
            self.anneal(seen, terms, next, (self.style.place, 1.0, &lines));
            *worth = self.worth(seen, next, terms);
        }
        let best = cells.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
        best.map_or_else(|| (0, plan.clone()), |(_, cell, next)| (cell, next))
    }

    /// Which wish to call for: the rarest letter, which helps the other least and seldom comes from it.
    fn wish(seen: &Observation<'_>, plan: &Plan) -> Option<(Letter, usize)> {
        let frequency = &seen.words.index().frequency;
        (0..CELLS)
            .filter_map(|cell| Some((Letter::from_code(plan.wish(cell))?, cell)))
            .min_by(|a, b| frequency[a.0.index()].total_cmp(&frequency[b.0.index()]))
    }

    /// The letter that is in fewest words.
    fn rarest(seen: &Observation<'_>) -> Letter {
        let frequency = &seen.words.index().frequency;
        let rarest = Letter::all().min_by(|a, b| frequency[a.index()].total_cmp(&frequency[b.index()]));
        rarest.unwrap_or(Letter::A)
    }
}

impl Bot<WordRacer> for Planner {
    fn begin(&mut self, seed: u64) {
        self.rng = QuickRng::new(seed);
        self.plan = None;
    }

    fn answer(&mut self, seen: &Observation<'_>) -> Answer {
        let terms = self.terms(seen);
        let mut plan = self.current_plan(seen, &terms);
        let (letter, cell) = match (seen.letter, Self::wish(seen, &plan)) {
            (None, Some((letter, cell))) => {
                plan.write(seen.words, cell, letter.code());
                (letter, cell)
            }
            (called, _) => {
                let letter = called.unwrap_or_else(|| Self::rarest(seen));
                let (cell, next) = self.place(seen, &plan, &terms, letter);
                plan = next;
                (letter, cell)
            }
        };
        self.plan = Some(plan);
        answer(seen, letter, cell)
    }
}
