//! Charts: a table whose rows have a strip of SVG each, as wide as there is room. Words and numbers stay HTML, so that they keep their
//! size on a phone, and every figure that is drawn can also be read.

use agon_league::Entrant;
use agon_league::rating::Rating;
use agon_league::standings::{Histograms, shown_time};

use crate::data::Pace;
use crate::html::{escaped, scrolling};
use crate::words::{count, counted, short};

/// Names an entrant, as HTML.
pub type Names<'n> = &'n dyn Fn(Entrant) -> String;

/// At most so many rows: nobody looks at more.
pub const MOST_ROWS: usize = 60;

/// How high a strip is; it is 100 wide, whatever is drawn.
const HIGH: f64 = 20.0;

/// A mark on an axis: where, in per cent, and what it says.
type Mark = (f64, String);

struct Strip {
    /// Who, as HTML.
    name: String,
    /// What is drawn.
    drawn: String,
    /// The same in words, for those who do not see it.
    told: String,
    /// Figures beside it.
    figures: Vec<String>,
}

struct Chart<'c> {
    caption: &'c str,
    /// Above the strips.
    axis: String,
    /// Above the figures.
    titles: Vec<&'c str>,
    marks: Vec<Mark>,
    strips: Vec<Strip>,
    /// How high each row is: `tall` or nothing.
    class: &'static str,
}

impl Chart<'_> {
    fn html(&self) -> String {
        let mut text =
            format!("<table class=\"chart {}\">\n<caption>{}</caption>\n", self.class, escaped(self.caption));
        text += "<thead>\n<tr><th scope=\"col\">Name</th>";
        for title in &self.titles {
            text += &format!("<th scope=\"col\" class=\"n\">{}</th>", escaped(title));
        }
        text += &format!(
            "<th scope=\"col\" class=\"wide\">{}</th></tr>\n</thead>\n<tbody>\n",
            escaped(&self.axis)
        );
        for strip in &self.strips {
            text += &format!("<tr><th scope=\"row\">{}</th>", strip.name);
            for figure in &strip.figures {
                text += &format!("<td class=\"n\">{}</td>", escaped(figure));
            }
            text += &format!("<td class=\"wide\">{}</td></tr>\n", self.strip(strip));
        }
        let before = 1 + self.titles.len();
        text += &format!(
            "</tbody>\n<tfoot aria-hidden=\"true\">\n<tr><td colspan=\"{before}\"></td><td class=\"wide\"><div class=\"axis\">"
        );
        for (at, says) in &self.marks {
            text += &format!("<span style=\"left:{}%\">{}</span>", short(*at, 2), escaped(says));
        }
        scrolling(self.caption, &(text + "</div></td></tr>\n</tfoot>\n</table>\n"))
    }

    fn strip(&self, strip: &Strip) -> String {
        let mut lines = String::new();
        for (at, _) in &self.marks {
            let x = short(*at, 2);
            lines += &format!("<path class=\"grid\" d=\"M{x} 0V{HIGH}\"/>");
        }
        format!(
            "<svg class=\"strip\" viewBox=\"0 0 100 {HIGH}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}\">{lines}{}</svg>",
            escaped(&strip.told),
            strip.drawn
        )
    }
}

/// How often everybody had which score: one row for each, all on one scale.
pub fn histogram(histograms: &Histograms, names: Names<'_>) -> String {
    let bins = histograms.counts.iter().map(|(_, counts)| counts.len()).max().unwrap_or(0).max(1);
    let most = histograms.counts.iter().flat_map(|(_, counts)| counts).max().copied().unwrap_or(0).max(1);
    let whole = histograms.width.fract() == 0.0 && histograms.from.fract() == 0.0;
    // A bin of one whole number stands for that number, so the mark belongs below its middle.
    let middle = if whole && (histograms.width - 1.0).abs() < f64::EPSILON { 0.5 } else { 0.0 };
    let (low, high) = (histograms.from, histograms.from + bins as f64 * histograms.width);
    let place = |x: f64| 100.0 * ((x - low) / histograms.width + middle) / bins as f64;
    let marks =
        ticks(low, high - middle * histograms.width).into_iter().map(|x| (place(x), short(x, 6))).collect();
    let strips = histograms.counts.iter().take(MOST_ROWS).map(|(entrant, counts)| {
        let (drawn, told) = (bars(counts, bins, most), told(histograms, counts));
        Strip { name: names(*entrant), drawn, figures: vec![count(counts.iter().sum())], told }
    });
    let unit = if histograms.unit.is_empty() { String::new() } else { format!(" [{}]", histograms.unit) };
    let chart = Chart {
        caption: "How often each score came",
        axis: format!("{}{unit}", capital(histograms.score)),
        titles: vec!["Games"],
        marks,
        strips: strips.collect(),
        class: "tall",
    };
    chart.html()
}

fn bars(counts: &[u64], bins: usize, most: u64) -> String {
    let width = 100.0 / bins as f64;
    let mut path = String::new();
    for (at, &n) in counts.iter().enumerate().filter(|(_, n)| **n > 0) {
        // What came once must still be seen.
        let high = (HIGH * n as f64 / most as f64).max(0.8);
        let (x, w) = (at as f64 * width, width * 0.9);
        path += &format!("M{} {HIGH}v-{}h{}v{}z", short(x, 2), short(high, 2), short(w, 2), short(high, 2));
    }
    format!("<path class=\"bar\" d=\"{path}\"/>")
}

fn told(histograms: &Histograms, counts: &[u64]) -> String {
    let range = |bin: usize| {
        let from = histograms.from + bin as f64 * histograms.width;
        if (histograms.width - 1.0).abs() < f64::EPSILON && from.fract() == 0.0 {
            return short(from, 0);
        }
        format!("{} to {}", short(from, 6), short(from + histograms.width, 6))
    };
    let filled = || counts.iter().enumerate().filter(|(_, n)| **n > 0);
    // The first of several that came equally often.
    let Some((often, n)) = filled().max_by_key(|(bin, n)| (**n, usize::MAX - bin)) else {
        return "no games".to_owned();
    };
    let (first, last) =
        (filled().next().map_or(0, |(bin, _)| bin), filled().last().map_or(0, |(bin, _)| bin));
    let games = counted(*n, "game", "games");
    if first == last {
        return format!("{} in all games", range(first));
    }
    format!("most often {} ({games}); least {}, most {}", range(often), range(first), range(last))
}

/// Everybody's rating with its error, the best first.
pub fn ratings(ratings: &[Rating], names: Names<'_>) -> String {
    let mut order: Vec<&Rating> =
        ratings.iter().filter(|one| one.rating.is_finite() && one.error.is_finite()).collect();
    if order.is_empty() {
        return String::new();
    }
    order.sort_by(|a, b| b.rating.total_cmp(&a.rating).then(a.entrant.cmp(&b.entrant)));
    order.truncate(MOST_ROWS);
    let low = order.iter().map(|one| one.rating - one.error).fold(f64::INFINITY, f64::min);
    let high = order.iter().map(|one| one.rating + one.error).fold(f64::NEG_INFINITY, f64::max);
    let room = ((high - low) * 0.04).max(5.0);
    let (low, high) = (low - room, high + room);
    let place = |x: f64| 100.0 * (x - low) / (high - low);
    let strip = |one: &&Rating| {
        let (from, to, at) =
            (place(one.rating - one.error), place(one.rating + one.error), place(one.rating));
        let (from, to, at) = (short(from, 2), short(to, 2), short(at, 2));
        Strip {
            name: names(one.entrant),
            drawn: format!(
                "<path class=\"line\" d=\"M{from} 10H{to}M{from} 6V14M{to} 6V14\"/><path class=\"point\" d=\"M{at} 3V17\"/>"
            ),
            told: format!(
                "{:.0}, 95 % from {:.0} to {:.0}",
                one.rating,
                one.rating - one.error,
                one.rating + one.error
            ),
            figures: vec![format!("{:.0}", one.rating), format!("± {:.0}", one.error)],
        }
    };
    let chart = Chart {
        caption: "Ratings with their 95 % intervals",
        axis: "Rating".to_owned(),
        titles: vec!["Rating", "Error"],
        marks: ticks(low, high).into_iter().map(|x| (place(x), short(x, 0))).collect(),
        strips: order.iter().map(strip).collect(),
        class: "",
    };
    chart.html()
}

/// How long everybody thought: the mean and the longest answer, each step of the scale ten times the one before.
pub fn paces(paces: &[Pace], names: Names<'_>) -> String {
    let mut order: Vec<&Pace> = paces.iter().filter(|one| one.answers > 0).collect();
    if order.is_empty() {
        return String::new();
    }
    order.sort_by(|a, b| a.mean.total_cmp(&b.mean).then(a.entrant.cmp(&b.entrant)));
    order.truncate(MOST_ROWS);
    let decade = |ns: f64| ns.max(1.0).log10();
    let low = order.iter().map(|one| decade(one.mean)).fold(f64::INFINITY, f64::min).floor();
    let high =
        order.iter().map(|one| decade(one.longest.max(one.mean))).fold(0.0, f64::max).ceil().max(low + 1.0);
    let place = |ns: f64| 100.0 * (decade(ns) - low) / (high - low);
    let strip = |one: &&Pace| {
        let (mean, longest) = (short(place(one.mean), 2), short(place(one.longest), 2));
        Strip {
            name: names(one.entrant),
            drawn: format!(
                "<path class=\"line\" d=\"M{mean} 10H{longest}M{longest} 6V14\"/><path class=\"point\" d=\"M{mean} 3V17\"/>"
            ),
            told: format!("{} on average, {} at the longest", shown_time(one.mean), shown_time(one.longest)),
            figures: vec![shown_time(one.mean), shown_time(one.longest)],
        }
    };
    let steps = (high - low) as usize;
    // Few enough to be read beside each other on a phone.
    let each = steps.div_ceil(5).max(1);
    let mark = |step: usize| {
        let ns = 10_f64.powf(low + step as f64);
        (place(ns), short_time(ns))
    };
    let chart = Chart {
        caption: "Time for an answer: mean and longest",
        axis: "Mean to longest".to_owned(),
        titles: vec!["Mean", "Longest"],
        marks: (0..=steps).step_by(each).map(mark).collect(),
        strips: order.iter().map(strip).collect(),
        class: "",
    };
    chart.html()
}

/// A power of ten without digits after the point.
fn short_time(ns: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")];
    let (unit, name) = units.into_iter().find(|(unit, _)| ns >= unit * 0.999).unwrap_or((1.0, "ns"));
    format!("{:.0} {name}", ns / unit)
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Three to six round numbers between two others.
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
