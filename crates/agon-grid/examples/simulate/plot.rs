//! The plot of docs/scaling.md: what was offered against what was sustained, both on logarithmic scales, told apart by shape too.

use std::fmt::Write as _;

/// Games a second: offered, and sustained.
pub type Point = (f64, f64);

const WIDE: f64 = 734.0;
const HIGH: f64 = 440.0;
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
        LEFT + (WIDE - LEFT - RIGHT) * (value.log10() - self.low) / (self.high - self.low)
    }

    fn y(&self, value: f64) -> f64 {
        HIGH - BOTTOM - (HIGH - TOP - BOTTOM) * (value.log10() - self.low) / (self.high - self.low)
    }
}

/// As SVG. Curves are lines with a name each (the first solid, the second dashed, ...); `measured` are dots.
pub fn svg(measured: &[Point], curves: &[(&str, Vec<Point>)]) -> String {
    let all = || measured.iter().chain(curves.iter().flat_map(|(_, points)| points));
    let low = all().map(|point| point.1.min(point.0)).fold(f64::MAX, f64::min).max(1.0);
    let high = all().map(|point| point.0.max(point.1)).fold(10.0, f64::max);
    let scale = Scale { low: low.log10().floor(), high: high.log10().ceil() };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDE} {HIGH}\" role=\"img\" aria-label=\"Games a second, offered and sustained\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{WIDE}\" height=\"{HIGH}\" fill=\"#fff\"/>\n"
    );
    grid(&mut out, &scale);
    let looks = [("#666", ""), ("#0b5cad", "7 4"), ("#a3480a", "2 4")];
    for (number, (name, points)) in curves.iter().enumerate() {
        let (colour, dashes) = looks[number % looks.len()];
        let mut line = String::new();
        for &(x, y) in points {
            let _ = write!(line, "{:.1},{:.1} ", scale.x(x), scale.y(y));
        }
        let look =
            format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\"");
        let _ = writeln!(out, "<polyline {look} points=\"{}\"/>", line.trim_end());
        let y = TOP + 18.0 + 20.0 * number as f64;
        let _ = writeln!(
            out,
            "<line {look} x1=\"{:.0}\" x2=\"{:.0}\" y1=\"{y}\" y2=\"{y}\"/>\n<text x=\"{:.0}\" y=\"{:.0}\" fill=\"#222\">{name}</text>",
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
            HIGH - BOTTOM,
            WIDE - RIGHT,
            HIGH - BOTTOM + 18.0,
            LEFT - 8.0,
            y + 4.5
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#222\">games a second that the workers could play</text>\n\
         <text x=\"{LEFT}\" y=\"20\" fill=\"#222\">games a second in the ledger</text>",
        f64::midpoint(WIDE, LEFT),
        HIGH - 10.0
    );
}
