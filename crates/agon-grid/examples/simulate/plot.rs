//! Plot for docs/scaling.md: offered against measured games per second on logarithmic scales. Curves differ in colour and dashes.

use std::fmt::Write as _;

/// Games per second: offered, and measured or predicted.
pub type Point = (f64, f64);

const WIDTH: f64 = 734.0;
const HEIGHT: f64 = 440.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 34.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 52.0;

/// Both axes span the same powers of ten.
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    fn x(&self, value: f64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * (value.log10() - self.low) / (self.high - self.low)
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value.log10() - self.low) / (self.high - self.low)
    }
}

/// Renders SVG. Each curve is a named line with its own dashes; `measured` are dots.
pub fn svg(measured: &[Point], curves: &[(&str, Vec<Point>)]) -> String {
    let all = || measured.iter().chain(curves.iter().flat_map(|(_, points)| points));
    let low = all().map(|point| point.1.min(point.0)).fold(f64::MAX, f64::min).max(1.0);
    let high = all().map(|point| point.0.max(point.1)).fold(10.0, f64::max);
    let scale = Scale { low: low.log10().floor(), high: high.log10().ceil() };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"Games per second, offered and measured\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n"
    );
    grid(&mut out, &scale);
    let styles = [("#666", ""), ("#0b5cad", "7 4"), ("#a3480a", "2 4")];
    for (number, (name, points)) in curves.iter().enumerate() {
        let (colour, dashes) = styles[number % styles.len()];
        let mut line = String::new();
        for &(x, y) in points {
            let _ = write!(line, "{:.1},{:.1} ", scale.x(x), scale.y(y));
        }
        let style =
            format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\"");
        let _ = writeln!(out, "<polyline {style} points=\"{}\"/>", line.trim_end());
        let y = TOP + 18.0 + 20.0 * number as f64;
        let _ = writeln!(
            out,
            "<line {style} x1=\"{:.0}\" x2=\"{:.0}\" y1=\"{y}\" y2=\"{y}\"/>\n<text x=\"{:.0}\" y=\"{:.0}\" fill=\"#222\">{name}</text>",
            LEFT + 14.0,
            LEFT + 46.0,
            LEFT + 54.0,
            y + 4.5
        );
    }
    for &(x, y) in measured {
        let _ = writeln!(
            out,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"4.5\" fill=\"#222\"/>",
            scale.x(x),
            scale.y(y)
        );
    }
    let y = TOP + 18.0 + 20.0 * curves.len() as f64;
    let _ = writeln!(
        out,
        "<circle cx=\"{:.0}\" cy=\"{y}\" r=\"4.5\" fill=\"#222\"/>\n<text x=\"{:.0}\" y=\"{:.0}\" fill=\"#222\">measured</text>",
        LEFT + 30.0,
        LEFT + 54.0,
        y + 4.5
    );
    out + "</svg>\n"
}

fn grid(out: &mut String, scale: &Scale) {
    for power in scale.low as i32..=scale.high as i32 {
        let value = 10_f64.powi(power);
        let (x, y) = (scale.x(value), scale.y(value));
        let _ = writeln!(
            out,
            "<path d=\"M{x:.1},{TOP}V{:.1}M{LEFT},{y:.1}H{:.1}\" stroke=\"#ddd\" fill=\"none\"/>\n\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#222\">{value}</text>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#222\">{value}</text>",
            HEIGHT - BOTTOM,
            WIDTH - RIGHT,
            HEIGHT - BOTTOM + 18.0,
            LEFT - 8.0,
            y + 4.5
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#222\">games per second offered by the workers</text>\n\
         <text x=\"{LEFT}\" y=\"20\" fill=\"#222\">games per second stored in the ledger</text>",
        f64::midpoint(WIDTH, LEFT),
        HEIGHT - 10.0
    );
}
