//! The special columns of a match, and where a piece lands.

use agon_core::{Rng, RngStream, SettingValue, Settings, SettingsError};

use super::board::{Board, COLUMNS};

/// Settings of the special columns; missing ones are drawn.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct SpecialSettings {
    columns: Option<[u8; 2]>,
    p: Option<f64>,
    q: Option<f64>,
}

impl SpecialSettings {
    /// Reads the settings and checks the conditions between them.
    pub(super) fn from_settings(settings: &Settings) -> Result<Self, SettingsError> {
        let mut problems = Vec::new();
        let columns = match settings.list("special") {
            Some(&[a, b]) if a == b => {
                problems.extend(
                    SettingsError::one(
                        format!("setting `special`: {a},{b} names the same column twice"),
                        "name two different columns, such as 2,6",
                    )
                    .problems,
                );
                None
            }
            Some(&[a, b]) => Some([a.min(b) as u8, a.max(b) as u8]),
            _ => None,
        };
        let (p, q) = (settings.real("p"), settings.real("q"));
        if let (Some(p), Some(q)) = (p, q)
            && p + q > 1.0
        {
            problems.extend(
                SettingsError::one(
                    format!("settings `p` and `q`: {p} + {q} is more than 1"),
                    "choose p + q <= 1: a piece moves left with probability p, right with q, and else stays",
                )
                .problems,
            );
        }
        if problems.is_empty() { Ok(Self { columns, p, q }) } else { Err(SettingsError { problems }) }
    }

    /// Draws the special columns of a match. Fixing one setting does not change how the others are drawn.
    pub(super) fn draw(self, seed: u64) -> SpecialColumns {
        if let Self { columns: Some(columns), p: Some(p), q: Some(q) } = self {
            return SpecialColumns { columns, p, q };
        }
        let mut rng = Rng::new(seed, RngStream::Match);
        let drawn = draw_columns(&mut |n| rng.below(n));
        let columns = self.columns.unwrap_or(drawn);
        let (u, v) = (rng.unit(), rng.unit());
        let (p, q) = self.odds(u, v);
        SpecialColumns { columns, p, q }
    }

    /// p and q from two uniform numbers: uniform on the triangle, or on the range that a given p or q allows.
    fn odds(self, u: f64, v: f64) -> (f64, f64) {
        match (self.p, self.q) {
            (Some(p), Some(q)) => (p, q),
            (Some(p), None) => (p, six_digits(v * (1.0 - p))),
            (None, Some(q)) => (six_digits(u * (1.0 - q)), q),
            // The upper half of the square is mirrored onto the lower half.
            (None, None) if u + v > 1.0 => (six_digits(1.0 - u), six_digits(1.0 - v)),
            (None, None) => (six_digits(u), six_digits(v)),
        }
    }
}

/// Cuts to six digits, so that the text in a record is exactly this number.
fn six_digits(x: f64) -> f64 {
    (x * 1e6).floor() / 1e6
}

/// Draws two different columns uniformly.
fn draw_columns(below: &mut impl FnMut(u32) -> u32) -> [u8; 2] {
    let a = below(COLUMNS as u32) as u8;
    let b = below(COLUMNS as u32 - 1) as u8;
    let b = if b >= a { b + 1 } else { b };
    [a.min(b), a.max(b)]
}

/// The two special columns and their drift, the same for all games of a match.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SpecialColumns {
    /// The columns, left one first.
    pub columns: [u8; 2],
    /// Probability that a piece moves one column left.
    pub p: f64,
    /// Probability that a piece moves one column right.
    pub q: f64,
}

impl SpecialColumns {
    /// Draws special columns, given only a mask of columns that are known to be special.
    pub(super) fn sample(known: u16, below: &mut impl FnMut(u32) -> u32) -> Self {
        let columns = loop {
            let columns = draw_columns(below);
            let mask = 1 << columns[0] | 1 << columns[1];
            if known & mask == known || known.count_ones() > 2 {
                break columns;
            }
        };
        let mut unit = || (f64::from(below(1 << 20)) + 0.5) / f64::from(1 << 20);
        let (p, q) = SpecialSettings { columns: None, p: None, q: None }.odds(unit(), unit());
        Self { columns, p, q }
    }

    /// Writes the drawn values into the settings of a match's games.
    pub(super) fn write(&self, settings: &mut Settings) {
        settings.set("special", SettingValue::List(self.columns.iter().map(|&c| i64::from(c)).collect()));
        settings.set("p", SettingValue::Real(self.p));
        settings.set("q", SettingValue::Real(self.q));
    }

    /// Whether a column is special.
    #[inline]
    pub const fn is_special(&self, column: usize) -> bool {
        self.columns[0] as usize == column || self.columns[1] as usize == column
    }

    /// Column in which a piece lands that was dropped into `named`, which has room. `chance` returns a uniform number in [0, 1). It is
    /// called once for a special column and not at all for others.
    #[inline]
    pub(super) fn landing_column(&self, board: &Board, named: usize, chance: impl FnOnce() -> f64) -> usize {
        if !self.is_special(named) {
            return named;
        }
        let x = chance();
        let goes = if x < self.p {
            named.wrapping_sub(1)
        } else if x < self.p + self.q {
            named + 1
        } else {
            named
        };
        // A neighbour off the board has no room either.
        if board.has_room(goes) { goes } else { named }
    }

    /// Probability that a piece dropped into `named` lands in `landed`.
    pub(super) fn landing_probability(&self, board: &Board, named: usize, landed: usize) -> f64 {
        if !board.has_room(named) {
            return 0.0;
        }
        let drift = |goes: usize, odds: f64| {
            let goes = if board.has_room(goes) { goes } else { named };
            if goes == landed { odds } else { 0.0 }
        };
        if self.is_special(named) {
            let stays = 1.0 - self.p - self.q;
            drift(named.wrapping_sub(1), self.p) + drift(named + 1, self.q) + drift(named, stays)
        } else {
            drift(named, 1.0)
        }
    }
}
