//! Charts: tables with an SVG strip in each row. The strip takes the remaining width. Text and numbers are HTML, so they keep their size on
//! a phone, and every drawn value is also available as text.

use agon_league::Entrant;
use agon_league::rating::Rating;
use agon_league::standings::{ScoreHistograms, format_duration};

use crate::data::ThinkTimes;
use crate::html::{escaped, note, scroll_region};
use crate::text_format::{capitalize, count, plural, trim_number};

/// Returns the name of an entrant as HTML.
pub type Names<'n> = &'n dyn Fn(Entrant) -> String;

/// Maximum number of rows of a chart.
pub const MAX_ROWS: usize = 60;

/// Height of a strip in SVG units. The width is always 100.
const STRIP_HEIGHT: f64 = 20.0;

/// A mark on the axis: position in per cent, and label.
type AxisMark = (f64, String);

struct Strip {
    /// Name of the entrant, as HTML.
    name: String,
    /// Content of the SVG.
    svg: String,
    /// Text alternative for screen readers.
    description: String,
    /// Values in the columns beside the strip.
    figures: Vec<String>,
}

struct Chart<'c> {
    caption: String,
    /// Title of the strip column.
    axis: String,
    /// Titles of the value columns.
    titles: Vec<&'c str>,
    marks: Vec<AxisMark>,
    strips: Vec<Strip>,
    /// Number of rows before cutting.
    all: usize,
    /// CSS class for the row height: `tall` or empty.
    class: &'static str,
}

impl Chart<'_> {
    fn html(&self) -> String {
        let mut text = format!(
            "<table class=\"chart {}\" role=\"table\">\n<caption>{}</caption>\n",
            self.class,
            escaped(&self.caption)
        );
        text +=
            "<thead role=\"rowgroup\">\n<tr role=\"row\"><th scope=\"col\" role=\"columnheader\">Name</th>";
        for title in &self.titles {
            text += &format!("<th scope=\"col\" role=\"columnheader\" class=\"n\">{}</th>", escaped(title));
        }
        text += &format!(
            "<th scope=\"col\" role=\"columnheader\" class=\"wide\">{}</th></tr>\n</thead>\n<tbody role=\"rowgroup\">\n",
            escaped(&self.axis)
        );
        for strip in &self.strips {
            text += &format!("<tr role=\"row\"><th scope=\"row\" role=\"rowheader\">{}</th>", strip.name);
            for figure in &strip.figures {
                text += &format!("<td role=\"cell\" class=\"n\">{}</td>", escaped(figure));
            }
            text += &format!("<td role=\"cell\" class=\"wide\">{}</td></tr>\n", self.strip(strip));
        }
        let before = 1 + self.titles.len();
        text += &format!(
            "</tbody>\n<tfoot aria-hidden=\"true\">\n<tr><td colspan=\"{before}\"></td><td class=\"wide\"><div class=\"axis\">"
        );
        for (at, label) in &self.marks {
            text += &format!("<span style=\"left:{}%\">{}</span>", trim_number(*at, 2), escaped(label));
        }
        let cut = if self.all > self.strips.len() {
            note(&format!("First {} of {}.", self.strips.len(), self.all))
        } else {
            String::new()
        };
        scroll_region(&self.caption, &(text + "</div></td></tr>\n</tfoot>\n</table>\n")) + &cut
    }

    fn strip(&self, strip: &Strip) -> String {
        let mut lines = String::new();
        for (at, _) in &self.marks {
            let x = trim_number(*at, 2);
            lines += &format!("<path class=\"grid\" d=\"M{x} 0V{STRIP_HEIGHT}\"/>");
        }
        format!(
            "<svg class=\"strip\" viewBox=\"0 0 100 {STRIP_HEIGHT}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}\">{lines}{}</svg>",
            escaped(&strip.description),
            strip.svg
        )
    }
}

/// Up to this number of different scores, each score gets its own bar (won, drawn, lost) instead of a bin.
const MAX_SEPARATE_BARS: usize = 5;

/// Score distributions: one row per entrant, all on the same scale.
pub fn histogram(histograms: &ScoreHistograms, names: Names<'_>) -> String {
    let scale = Scale::of(histograms);
    let most = histograms.counts.iter().flat_map(|(_, counts)| counts).max().copied().unwrap_or(0).max(1);
    let strips = histograms.counts.iter().take(MAX_ROWS).map(|(entrant, counts)| Strip {
        name: names(*entrant),
        svg: bars(&scale.drawn_counts(counts), scale.bins.len(), most),
        description: scale.describe(counts),
        figures: vec![count(counts.iter().sum())],
    });
    let unit = if histograms.unit.is_empty() { String::new() } else { format!(" [{}]", histograms.unit) };
    let chart = Chart {
        caption: "Score distribution".to_owned(),
        axis: format!("{}{unit}", capitalize(histograms.score)),
        titles: vec!["Games"],
        marks: scale.marks(),
        strips: strips.collect(),
        all: histograms.counts.len(),
        class: "tall",
    };
    chart.html()
}

/// The bins that are drawn, from left to right.
struct Scale {
    from: f64,
    width: f64,
    bins: Vec<usize>,
    separate_bars: bool,
}

impl Scale {
    fn of(histograms: &ScoreHistograms) -> Self {
        let all = histograms.counts.iter().map(|(_, counts)| counts.len()).max().unwrap_or(0).max(1);
        let is_filled = |bin: &usize| {
            histograms.counts.iter().any(|(_, counts)| counts.get(*bin).is_some_and(|n| *n > 0))
        };
        let filled: Vec<usize> = (0..all).filter(is_filled).collect();
        let separate_bars = filled.len() <= MAX_SEPARATE_BARS && !filled.is_empty();
        let bins = if separate_bars { filled } else { (0..all).collect() };
        Self { from: histograms.from, width: histograms.width, bins, separate_bars }
    }

    fn start(&self, bin: usize) -> f64 {
        self.from + bin as f64 * self.width
    }

    /// Whether each bin is one integer. Then the bin is labelled with it, below the middle of the bar.
    fn whole(&self) -> bool {
        (self.width - 1.0).abs() < f64::EPSILON && self.from.fract() == 0.0
    }

    fn drawn_counts(&self, counts: &[u64]) -> Vec<u64> {
        self.bins.iter().map(|&bin| counts.get(bin).copied().unwrap_or(0)).collect()
    }

    fn marks(&self) -> Vec<AxisMark> {
        let all = self.bins.len() as f64;
        if self.separate_bars {
            let middle = |(at, &bin): (usize, &usize)| {
                (100.0 * (at as f64 + 0.5) / all, trim_number(self.start(bin), 6))
            };
            return self.bins.iter().enumerate().map(middle).collect();
        }
        let shift = if self.whole() { 0.5 } else { 0.0 };
        let high = self.start(self.bins.len()) - shift * self.width;
        let place = |x: f64| 100.0 * ((x - self.from) / self.width + shift) / all;
        ticks(self.from, high).into_iter().map(|x| (place(x), trim_number(x, 6))).collect()
    }

    fn name(&self, bin: usize) -> String {
        let from = self.start(bin);
        if self.separate_bars || self.whole() {
            trim_number(from, 6)
        } else {
            format!("{} to {}", trim_number(from, 6), trim_number(from + self.width, 6))
        }
    }

    fn describe(&self, counts: &[u64]) -> String {
        let games = |n: u64| plural(n, "game", "games");
        let filled: Vec<(usize, u64)> = counts.iter().copied().enumerate().filter(|(_, n)| *n > 0).collect();
        if self.separate_bars {
            let each: Vec<String> =
                filled.iter().map(|&(bin, n)| format!("{} in {}", self.name(bin), games(n))).collect();
            return each.join(", ");
        }
        // The lowest of several equally frequent bins.
        let often = filled.iter().max_by_key(|(bin, n)| (*n, usize::MAX - bin));
        let (Some(&(often, n)), Some((first, _)), Some((last, _))) = (often, filled.first(), filled.last())
        else {
            return "no games".to_owned();
        };
        format!(
            "most frequent {} ({}); lowest {}, highest {}",
            self.name(often),
            games(n),
            self.name(*first),
            self.name(*last)
        )
    }
}

fn bars(counts: &[u64], bins: usize, most: u64) -> String {
    let width = 100.0 / bins as f64;
    let mut path = String::new();
    for (at, &n) in counts.iter().enumerate().filter(|(_, n)| **n > 0) {
        // Keep a bar for a single game visible.
        let high = (STRIP_HEIGHT * n as f64 / most as f64).max(0.8);
        let (x, w) = ((at as f64 + 0.05) * width, width * 0.9);
        path += &format!(
            "M{} {STRIP_HEIGHT}v-{}h{}v{}z",
            trim_number(x, 2),
            trim_number(high, 2),
            trim_number(w, 2),
            trim_number(high, 2)
        );
    }
    format!("<path class=\"bar\" d=\"{path}\"/>")
}

/// Ratings with their errors, the best first.
pub fn ratings(ratings: &[Rating], of: &str, names: Names<'_>) -> String {
    let mut order: Vec<&Rating> =
        ratings.iter().filter(|one| one.rating.is_finite() && one.error.is_finite()).collect();
    if order.is_empty() {
        return String::new();
    }
    order.sort_by(|a, b| b.rating.total_cmp(&a.rating).then(a.entrant.cmp(&b.entrant)));
    let all = order.len();
    order.truncate(MAX_ROWS);
    let low = order.iter().map(|one| one.rating - one.error).fold(f64::INFINITY, f64::min);
    let high = order.iter().map(|one| one.rating + one.error).fold(f64::NEG_INFINITY, f64::max);
    let room = ((high - low) * 0.04).max(5.0);
    let (low, high) = (low - room, high + room);
    let place = |x: f64| 100.0 * (x - low) / (high - low);
    let strip = |one: &&Rating| {
        let (from, to, at) =
            (place(one.rating - one.error), place(one.rating + one.error), place(one.rating));
        let (from, to, at) = (trim_number(from, 2), trim_number(to, 2), trim_number(at, 2));
        Strip {
            name: names(one.entrant),
            svg: format!(
                "<path class=\"line\" d=\"M{from} 10H{to}M{from} 6V14M{to} 6V14\"/><path class=\"point\" d=\"M{at} 3V17\"/>"
            ),
            description: format!(
                "{:.0}, 95 % interval from {:.0} to {:.0}",
                one.rating,
                one.rating - one.error,
                one.rating + one.error
            ),
            figures: vec![format!("{:.0}", one.rating), format!("± {:.0}", one.error)],
        }
    };
    let chart = Chart {
        caption: format!("Ratings of {of} with 95 % intervals"),
        axis: "Rating".to_owned(),
        titles: vec!["Rating", "Error"],
        marks: ticks(low, high).into_iter().map(|x| (place(x), trim_number(x, 0))).collect(),
        strips: order.iter().map(strip).collect(),
        all,
        class: "",
    };
    chart.html()
}

/// Mean and longest thinking time of each entrant, on a logarithmic scale.
pub fn think_times(times: &[ThinkTimes], names: Names<'_>) -> String {
    let mut order: Vec<&ThinkTimes> = times.iter().filter(|one| one.answers > 0).collect();
    if order.is_empty() {
        return String::new();
    }
    order.sort_by(|a, b| a.mean.total_cmp(&b.mean).then(a.entrant.cmp(&b.entrant)));
    let all = order.len();
    order.truncate(MAX_ROWS);
    let decade = |ns: f64| ns.max(1.0).log10();
    let low = order.iter().map(|one| decade(one.mean)).fold(f64::INFINITY, f64::min).floor();
    let high =
        order.iter().map(|one| decade(one.longest.max(one.mean))).fold(0.0, f64::max).ceil().max(low + 1.0);
    let place = |ns: f64| 100.0 * (decade(ns) - low) / (high - low);
    let strip = |one: &&ThinkTimes| {
        let (mean, longest) = (trim_number(place(one.mean), 2), trim_number(place(one.longest), 2));
        Strip {
            name: names(one.entrant),
            svg: format!(
                "<path class=\"line\" d=\"M{mean} 10H{longest}M{longest} 6V14\"/><path class=\"point\" d=\"M{mean} 3V17\"/>"
            ),
            description: format!(
                "mean {}, longest {}",
                format_duration(one.mean),
                format_duration(one.longest)
            ),
            figures: vec![format_duration(one.mean), format_duration(one.longest)],
        }
    };
    let steps = (high - low) as usize;
    // Few enough marks to be readable on a phone.
    let each = steps.div_ceil(5).max(1);
    let mark = |step: usize| {
        let ns = 10_f64.powf(low + step as f64);
        (place(ns), short_time(ns))
    };
    let chart = Chart {
        caption: "Time per answer: mean and longest".to_owned(),
        axis: "Mean to longest".to_owned(),
        titles: vec!["Mean", "Longest"],
        marks: (0..=steps).step_by(each).map(mark).collect(),
        strips: order.iter().map(strip).collect(),
        all,
        class: "",
    };
    chart.html()
}

/// Formats a power of ten without decimals.
fn short_time(ns: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")];
    let (unit, name) = units.into_iter().find(|(unit, _)| ns >= unit * 0.999).unwrap_or((1.0, "ns"));
    format!("{:.0} {name}", ns / unit)
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
