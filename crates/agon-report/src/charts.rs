//! Charts: tables with an SVG strip in each row. The strip takes the remaining width. Text and numbers are HTML, so they keep their size on
//! a phone, and every drawn value is also available as text.

use agon_league::Entrant;
use agon_league::rating::Rating;
use agon_league::standings::ScoreHistograms;

use crate::data::ThinkTimes;
use crate::html::{html_escape, note, scroll_region};
use crate::scale::{self, AxisMark, HistogramScale};
use crate::text_format::{capitalize, count, grouped_plural, html_duration, trim_number};

/// Returns the name of an entrant as HTML.
pub type Names<'n> = &'n dyn Fn(Entrant) -> String;

/// Maximum number of rows of a chart.
pub const MAX_ROWS: usize = 60;

/// Height of a strip in SVG units. The width is always 100.
const STRIP_HEIGHT: f64 = 20.0;

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
            html_escape(&self.caption)
        );
        text +=
            "<thead role=\"rowgroup\">\n<tr role=\"row\"><th scope=\"col\" role=\"columnheader\">Name</th>";
        for title in &self.titles {
            text +=
                &format!("<th scope=\"col\" role=\"columnheader\" class=\"n\">{}</th>", html_escape(title));
        }
        text += &format!(
            "<th scope=\"col\" role=\"columnheader\" class=\"wide\">{}</th></tr>\n</thead>\n<tbody role=\"rowgroup\">\n",
            html_escape(&self.axis)
        );
        for strip in &self.strips {
            text += &format!("<tr role=\"row\"><th scope=\"row\" role=\"rowheader\">{}</th>", strip.name);
            for figure in &strip.figures {
                text += &format!("<td role=\"cell\" class=\"n\">{}</td>", html_escape(figure));
            }
            text += &format!("<td role=\"cell\" class=\"wide\">{}</td></tr>\n", self.strip(strip));
        }
        let before = 1 + self.titles.len();
        text += &format!(
            "</tbody>\n<tfoot aria-hidden=\"true\">\n<tr><td colspan=\"{before}\"></td><td class=\"wide\"><div class=\"axis\">"
        );
        for mark in &self.marks {
            let x = trim_number(mark.position, 2);
            text += &format!("<span style=\"left:{x}%\">{}</span>", html_escape(&mark.label));
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
        for mark in &self.marks {
            let x = trim_number(mark.position, 2);
            lines += &format!("<path class=\"grid\" d=\"M{x} 0V{STRIP_HEIGHT}\"/>");
        }
        format!(
            "<svg class=\"strip\" viewBox=\"0 0 100 {STRIP_HEIGHT}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}\">{lines}{}</svg>",
            html_escape(&strip.description),
            strip.svg
        )
    }
}

/// Score distributions: one row per entrant, all on the same scale.
pub fn histogram(histograms: &ScoreHistograms, names: Names<'_>) -> String {
    let scale = HistogramScale::new(histograms);
    let strips = histograms.counts.iter().take(MAX_ROWS).map(|(entrant, counts)| Strip {
        name: names(*entrant),
        svg: bars(counts, &scale),
        description: describe_histogram(counts, &scale),
        figures: vec![count(counts.iter().sum())],
    });
    let unit = if histograms.unit.is_empty() { String::new() } else { format!(" [{}]", histograms.unit) };
    let chart = Chart {
        caption: "Score distribution".to_owned(),
        axis: format!("{}{unit}", capitalize(histograms.score)),
        titles: vec!["Games"],
        strips: strips.collect(),
        marks: scale.marks.clone(),
        all: histograms.counts.len(),
        class: "tall",
    };
    chart.html()
}

/// Text alternative of a score distribution.
fn describe_histogram(counts: &[u64], scale: &HistogramScale) -> String {
    let games = |n: u64| grouped_plural(n, "game", "games");
    let filled: Vec<(&str, u64)> = drawn_counts(counts, scale)
        .zip(&scale.bin_labels)
        .filter(|(n, _)| *n > 0)
        .map(|(n, label)| (&**label, n))
        .collect();
    if scale.separate_bars {
        let each: Vec<String> = filled.iter().map(|(label, n)| format!("{label} in {}", games(*n))).collect();
        return each.join(", ");
    }
    // The lowest of several equally frequent bins.
    let often = filled.iter().rev().max_by_key(|(_, n)| *n);
    let (Some((often, n)), Some((first, _)), Some((last, _))) = (often, filled.first(), filled.last()) else {
        return "no games".to_owned();
    };
    format!("most frequent {often} ({}); lowest {first}, highest {last}", games(*n))
}

/// Counts of the bins that are drawn.
fn drawn_counts(counts: &[u64], scale: &HistogramScale) -> impl Iterator<Item = u64> {
    scale.bins.iter().map(|&bin| counts.get(bin).copied().unwrap_or(0))
}

fn bars(counts: &[u64], scale: &HistogramScale) -> String {
    let width = 100.0 / scale.bins.len() as f64;
    let mut path = String::new();
    for (at, n) in drawn_counts(counts, scale).enumerate().filter(|(_, n)| *n > 0) {
        // Keep a bar for a single game visible.
        let high = (STRIP_HEIGHT * n as f64 / scale.max_count as f64).max(0.8);
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
    let Some(scale) = scale::ratings(ratings) else {
        return String::new();
    };
    order.sort_by(|a, b| b.rating.total_cmp(&a.rating).then(a.entrant.cmp(&b.entrant)));
    let all = order.len();
    order.truncate(MAX_ROWS);
    let place = |x: f64| scale.position(x);
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
        strips: order.iter().map(strip).collect(),
        marks: scale.marks.clone(),
        all,
        class: "",
    };
    chart.html()
}

/// Mean and longest thinking time of each entrant, on a logarithmic scale.
pub fn think_times(times: &[ThinkTimes], names: Names<'_>) -> String {
    let mut order: Vec<&ThinkTimes> = times.iter().filter(|one| one.answers > 0).collect();
    let Some(scale) = scale::think_times(times) else {
        return String::new();
    };
    order.sort_by(|a, b| a.mean.total_cmp(&b.mean).then(a.entrant.cmp(&b.entrant)));
    let all = order.len();
    order.truncate(MAX_ROWS);
    let place = |ns: f64| scale.position(ns);
    let strip = |one: &&ThinkTimes| {
        let (mean, longest) = (trim_number(place(one.mean), 2), trim_number(place(one.longest), 2));
        Strip {
            name: names(one.entrant),
            svg: format!(
                "<path class=\"line\" d=\"M{mean} 10H{longest}M{longest} 6V14\"/><path class=\"point\" d=\"M{mean} 3V17\"/>"
            ),
            description: format!("mean {}, longest {}", html_duration(one.mean), html_duration(one.longest)),
            figures: vec![html_duration(one.mean), html_duration(one.longest)],
        }
    };
    let chart = Chart {
        caption: "Time per answer: mean and longest".to_owned(),
        axis: "Mean to longest".to_owned(),
        titles: vec!["Mean", "Longest"],
        strips: order.iter().map(strip).collect(),
        marks: scale.marks.clone(),
        all,
        class: "",
    };
    chart.html()
}
