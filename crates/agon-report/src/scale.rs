//! Scales of charts: the range of an axis, the position of a value on it, and its marks.
//!
//! Every scale is computed here, once. Report pages draw it, and the HTTP API sends it to the web app, which draws it too.

use agon_league::rating::Rating;
use agon_league::standings::{ScoreHistograms, StandingsTable, TableCell};

use crate::data::ThinkTimes;
use crate::text_format::trim_number;

/// A mark of an axis.
#[derive(Clone, PartialEq, Debug)]
pub struct AxisMark {
    /// Value at the mark.
    pub value: f64,
    /// Position on the axis, in per cent.
    pub position: f64,
    /// Text at the mark.
    pub label: String,
}

/// How values are spread over an axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScaleKind {
    /// Equal differences have equal lengths.
    Linear,
    /// Equal ratios have equal lengths.
    Logarithmic,
}

/// Scale of an axis.
#[derive(Clone, PartialEq, Debug)]
pub struct AxisScale {
    /// How values are spread.
    pub kind: ScaleKind,
    /// Value at the start of the axis.
    pub min: f64,
    /// Value at the end of the axis.
    pub max: f64,
    /// Marks, from the lowest to the highest.
    pub marks: Vec<AxisMark>,
}

impl AxisScale {
    /// A linear scale from `low` to `high`, which must be finite and in order. The marks are round numbers.
    fn linear(low: f64, high: f64, values: &[f64], decimals: usize) -> Self {
        let mut scale = Self { kind: ScaleKind::Linear, min: low, max: high, marks: Vec::new() };
        scale.mark(values, |x| trim_number(x, decimals));
        scale
    }

    /// A logarithmic scale of whole powers of ten around `low` and `high`, which must be positive.
    fn powers_of_ten(low: f64, high: f64, label: fn(f64) -> String) -> Self {
        let from = low.log10().floor() as i32;
        let to = (high.log10().ceil() as i32).max(from + 1);
        let [min, max] = [from, to].map(power_of_ten);
        let mut scale = Self { kind: ScaleKind::Logarithmic, min, max, marks: Vec::new() };
        // Few enough marks to be readable on a phone.
        let stride = (to - from).unsigned_abs().div_ceil(MAX_INTERVALS).max(1) as usize;
        let values: Vec<f64> = (from..=to).step_by(stride).map(power_of_ten).collect();
        scale.mark(&values, label);
        scale
    }

    fn mark(&mut self, values: &[f64], label: impl Fn(f64) -> String) {
        let mark = |&value: &f64| AxisMark { value, position: self.position(value), label: label(value) };
        self.marks = values.iter().map(mark).collect();
    }

    /// Position of a value on the axis, in per cent.
    pub fn position(&self, x: f64) -> f64 {
        match self.kind {
            ScaleKind::Linear => 100.0 * (x - self.min) / (self.max - self.min),
            ScaleKind::Logarithmic => {
                100.0 * (x.max(self.min) / self.min).log10() / (self.max / self.min).log10()
            }
        }
    }

    /// The same axis in a unit that is `factor` times as large. Positions and labels stay. Only for logarithmic scales.
    #[must_use]
    pub fn in_larger_unit(mut self, factor: f64) -> Self {
        self.min /= factor;
        self.max /= factor;
        for mark in &mut self.marks {
            mark.value /= factor;
        }
        self
    }
}

/// Maximum number of intervals between marks.
const MAX_INTERVALS: u32 = 5;

fn power_of_ten(exponent: i32) -> f64 {
    // Division is exact to the last digit where a negative power is not.
    if exponent < 0 { 1.0 / 10_f64.powi(-exponent) } else { 10_f64.powi(exponent) }
}

/// Three to six round numbers between `low` and `high`.
pub fn ticks(low: f64, high: f64) -> Vec<f64> {
    let span = high - low;
    if !span.is_finite() || span <= 0.0 {
        return vec![low];
    }
    let ten = 10_f64.powf((span / 5.0).log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].map(|n| n * ten).into_iter().find(|step| span / step <= 5.5).unwrap_or(span);
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|n| n as f64 * step).collect()
}

/// Minimum and maximum of the finite values; `None` without any.
fn range(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let finite = values.into_iter().filter(|x| x.is_finite());
    finite.fold(None, |range, x| {
        range.map_or(Some((x, x)), |(low, high): (f64, f64)| Some((low.min(x), high.max(x))))
    })
}

/// Scale of ratings with their errors; `None` if no rating is known.
pub fn ratings(ratings: &[Rating]) -> Option<AxisScale> {
    let known = ratings.iter().filter(|one| one.rating.is_finite() && one.error.is_finite());
    rating_history(known.flat_map(|one| [one.rating - one.error, one.rating + one.error]))
}

/// Scale of ratings over time; `None` without any.
pub fn rating_history(values: impl IntoIterator<Item = f64>) -> Option<AxisScale> {
    let (low, high) = range(values)?;
    let margin = ((high - low) * 0.04).max(5.0);
    let (low, high) = (low - margin, high + margin);
    Some(AxisScale::linear(low, high, &ticks(low, high), 0))
}

/// Scale of a number of things, from 0 to `last` (at least 1). The marks are whole numbers.
pub fn counts(last: u64) -> AxisScale {
    let last = last.max(1) as f64;
    let mut whole = ticks(0.0, last);
    whole.retain(|x| (x - x.round()).abs() < 1e-9);
    AxisScale::linear(0.0, last, &whole, 0)
}

/// Scale of thinking times, in nanoseconds; `None` without answers.
pub fn think_times(times: &[ThinkTimes]) -> Option<AxisScale> {
    let answered = times.iter().filter(|one| one.answers > 0);
    let (low, high) = range(answered.flat_map(|one| [one.mean, one.longest].map(|ns| ns.max(1.0))))?;
    Some(AxisScale::powers_of_ten(low, high, short_time))
}

/// Scale of positive values of any size; `None` without any. Values that are not positive are left out.
pub fn magnitudes(values: impl IntoIterator<Item = f64>) -> Option<AxisScale> {
    let (low, high) = range(values.into_iter().filter(|x| *x > 0.0))?;
    Some(AxisScale::powers_of_ten(low, high, short_power))
}

/// Formats a power of ten of nanoseconds without decimals.
fn short_time(ns: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];
    let (unit, name) = units.into_iter().find(|(unit, _)| ns >= unit * 0.999).unwrap_or((1.0, "ns"));
    format!("{:.0} {name}", ns / unit)
}

/// Formats a power of ten: `0.01`, `100`, `1e-7`.
fn short_power(x: f64) -> String {
    if (1e-4..1e6).contains(&x) { trim_number(x, 4) } else { format!("{x:e}") }
}

/// Scale of the values drawn inside a table: the intervals with their means, or the shade of measured head-to-head cells. `None` if the
/// table has neither. It has no marks.
pub fn table(table: &StandingsTable) -> Option<AxisScale> {
    let number = |cell: &TableCell| match cell {
        TableCell::Real(x, ..) => Some(*x),
        TableCell::Int(n) => Some(*n as f64),
        _ => None,
    };
    let column = |id: &str| table.columns.iter().position(|column| column.id == id);
    if let Some(interval) = column("interval") {
        let mean = column("mean");
        let values = table.rows.iter().flat_map(|row| {
            let bounds = match row.cells.get(interval) {
                Some(TableCell::Interval(low, high, _)) => vec![*low, *high],
                _ => Vec::new(),
            };
            let mean = mean.and_then(|at| row.cells.get(at)).and_then(number);
            bounds.into_iter().chain(mean)
        });
        let (low, high) = range(values)?;
        // A single value is drawn in the middle.
        let (low, high) = if low < high { (low, high) } else { (low - 1.0, high + 1.0) };
        return Some(AxisScale::linear(low, high, &[], 0));
    }
    if !table.columns.iter().any(|column| column.id.starts_with("against_")) {
        return None;
    }
    // Only measured values: won, drawn and lost games are shaded by their share.
    let measured = table.rows.iter().flat_map(|row| &row.cells).filter_map(|cell| match cell {
        TableCell::Real(x, ..) => Some(x.max(1.0)),
        _ => None,
    });
    let (min, max) = range(measured)?;
    // Equal values get no shade.
    let max = if min < max { max } else { min * 2.0 };
    Some(AxisScale { kind: ScaleKind::Logarithmic, min, max, marks: Vec::new() })
}

/// Up to this number of different scores, each score gets its own bar (won, drawn, lost) instead of a bin.
const MAX_SEPARATE_BARS: usize = 5;

/// Scale of score distributions: the bins that are drawn, from left to right.
#[derive(Clone, PartialEq, Debug)]
pub struct HistogramScale {
    /// Numbers of the bins that are drawn.
    pub bins: Vec<usize>,
    /// Score or range of scores of each drawn bin.
    pub bin_labels: Vec<String>,
    /// Whether there are so few different scores that only these are drawn, side by side.
    pub separate_bars: bool,
    /// Marks of the score axis.
    pub marks: Vec<AxisMark>,
    /// Largest count of all bins, at least 1. It is drawn as a full bar.
    pub max_count: u64,
}

impl HistogramScale {
    /// The scale of all entrants.
    pub fn new(histograms: &ScoreHistograms) -> Self {
        let (from, width) = (histograms.from, histograms.width);
        let counts = || histograms.counts.iter().map(|(_, counts)| counts);
        let all = counts().map(Vec::len).max().unwrap_or(0).max(1);
        let is_filled = |bin: &usize| counts().any(|counts| counts.get(*bin).is_some_and(|n| *n > 0));
        let filled: Vec<usize> = (0..all).filter(is_filled).collect();
        let separate_bars = filled.len() <= MAX_SEPARATE_BARS && !filled.is_empty();
        let bins: Vec<usize> = if separate_bars { filled } else { (0..all).collect() };
        // A bin of one integer is labelled with it, below the middle of the bar.
        let whole = (width - 1.0).abs() < f64::EPSILON && from.fract() == 0.0;
        let start = |bin: usize| from + bin as f64 * width;
        // A separate bar stands for the scores in it, not for its bin.
        let limits = |bin: usize| match histograms.extremes.get(bin) {
            Some(Some(extremes)) if separate_bars => *extremes,
            _ if whole => (start(bin), start(bin)),
            _ => (start(bin), start(bin) + width),
        };
        let bin_label = |&bin: &usize| {
            let (low, high) = limits(bin);
            let (low, high) = (trim_number(low, 6), trim_number(high, 6));
            if low == high { low } else { format!("{low} to {high}") }
        };
        let mark = |value: f64, position: f64| AxisMark { value, position, label: trim_number(value, 6) };
        let drawn = bins.len() as f64;
        let marks = if separate_bars {
            let middle = |(at, bin): (usize, &usize)| {
                let (low, high) = limits(*bin);
                let position = 100.0 * (at as f64 + 0.5) / drawn;
                AxisMark { value: f64::midpoint(low, high), position, label: bin_label(bin) }
            };
            bins.iter().enumerate().map(middle).collect()
        } else {
            let shift = if whole { 0.5 } else { 0.0 };
            let high = start(bins.len()) - shift * width;
            let place = |x: f64| 100.0 * ((x - from) / width + shift) / drawn;
            ticks(from, high).into_iter().map(|x| mark(x, place(x))).collect()
        };
        Self {
            bin_labels: bins.iter().map(bin_label).collect(),
            bins,
            separate_bars,
            marks,
            max_count: counts().flatten().max().copied().unwrap_or(0).max(1),
        }
    }
}
