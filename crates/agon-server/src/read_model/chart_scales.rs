//! Scales of charts as the API sends them. `agon_report::scale` computes them; the web app draws them.

use agon_league::standings::{Standings, StandingsTable, TableCell};
use agon_report::data::ThinkTimes;
use agon_report::scale::{self, AxisMark, AxisScale, HistogramScale, ScaleKind};
use serde::Serialize;
use utoipa::ToSchema;

/// A mark of an axis.
#[derive(Debug, Serialize, ToSchema)]
pub struct AxisMarkBody {
    /// Value at the mark.
    pub value: f64,
    /// Position on the axis, in per cent.
    pub position: f64,
    /// Text at the mark.
    pub label: String,
}

impl From<AxisMark> for AxisMarkBody {
    fn from(mark: AxisMark) -> Self {
        Self { value: mark.value, position: (mark.position * 1e4).round() / 1e4, label: mark.label }
    }
}

/// How values are spread over an axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ScaleKindBody {
    /// Equal differences have equal lengths.
    Linear,
    /// Equal ratios have equal lengths.
    Logarithmic,
}

/// Scale of an axis.
#[derive(Debug, Serialize, ToSchema)]
pub struct AxisScaleBody {
    /// How values are spread.
    pub kind: ScaleKindBody,
    /// Value at the start of the axis.
    pub min: f64,
    /// Value at the end of the axis.
    pub max: f64,
    /// Marks, from the lowest to the highest. Empty if the axis is drawn without marks.
    pub marks: Vec<AxisMarkBody>,
}

impl From<AxisScale> for AxisScaleBody {
    fn from(scale: AxisScale) -> Self {
        Self {
            kind: match scale.kind {
                ScaleKind::Linear => ScaleKindBody::Linear,
                ScaleKind::Logarithmic => ScaleKindBody::Logarithmic,
            },
            min: scale.min,
            max: scale.max,
            marks: scale.marks.into_iter().map(Into::into).collect(),
        }
    }
}

/// Scale of score distributions.
#[derive(Debug, Serialize, ToSchema)]
pub struct HistogramScaleBody {
    /// Numbers of the bins that are drawn, from left to right.
    pub bins: Vec<usize>,
    /// Score or range of scores of each drawn bin.
    pub bin_labels: Vec<String>,
    /// Marks of the score axis.
    pub marks: Vec<AxisMarkBody>,
    /// Largest count of all bins, at least 1.
    pub max_count: u64,
}

impl From<HistogramScale> for HistogramScaleBody {
    fn from(scale: HistogramScale) -> Self {
        Self {
            bins: scale.bins,
            bin_labels: scale.bin_labels,
            marks: scale.marks.into_iter().map(Into::into).collect(),
            max_count: scale.max_count,
        }
    }
}

/// Scales of the charts of a phase. A scale is null if there is nothing to draw.
#[derive(Debug, Serialize, ToSchema)]
pub struct PhaseScales {
    /// Ratings with their errors.
    pub ratings: Option<AxisScaleBody>,
    /// The column `efficiency`.
    pub efficiency: Option<AxisScaleBody>,
    /// Mean and longest times per answer, in microseconds.
    pub answer_times: Option<AxisScaleBody>,
}

impl PhaseScales {
    /// Computes the scales.
    pub fn new(standings: &Standings, think_times: &[ThinkTimes]) -> Self {
        let efficiency = standings.tables.iter().flat_map(|table| column_values(table, "efficiency"));
        Self {
            ratings: scale::ratings(&standings.ratings).map(Into::into),
            efficiency: scale::magnitudes(efficiency).map(Into::into),
            answer_times: answer_times(think_times),
        }
    }
}

/// Scale of answer times, in microseconds.
fn answer_times(think_times: &[ThinkTimes]) -> Option<AxisScaleBody> {
    scale::think_times(think_times).map(|scale| scale.in_larger_unit(1e3).into())
}

/// Numbers of a column; empty if the table does not have the column.
fn column_values(table: &StandingsTable, id: &str) -> impl Iterator<Item = f64> {
    let at = table.columns.iter().position(|column| column.id == id);
    table.rows.iter().filter_map(move |row| match row.cells.get(at?)? {
        TableCell::Real(x, ..) => Some(*x),
        TableCell::Int(n) => Some(*n as f64),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use agon_league::Entrant;
    use agon_league::rating::Rating;
    use agon_league::standings::ScoreHistograms;
    use serde_json::{Value, json};

    use super::*;

    const VECTORS: &str = include_str!("../../../agon-report/testdata/chart_scales.json");

    fn numbers(value: &Value) -> Vec<f64> {
        serde_json::from_value(value.clone()).unwrap()
    }

    fn scale_of(input: &Value) -> Value {
        let entrant = |at: usize| Entrant(u32::try_from(at).unwrap());
        let each = |key: &str| input[key].as_array().unwrap().iter().map(numbers).enumerate();
        let kind = input.as_object().unwrap().keys().next().unwrap();
        match kind.as_str() {
            "ratings" => {
                let rating = |(at, pair): (usize, Vec<f64>)| Rating {
                    entrant: entrant(at),
                    rating: pair[0],
                    error: pair[1],
                };
                let all: Vec<Rating> = each(kind).map(rating).collect();
                json!(scale::ratings(&all).map(AxisScaleBody::from))
            }
            "think_times_ns" => {
                let times = |(at, pair): (usize, Vec<f64>)| ThinkTimes {
                    entrant: entrant(at),
                    answers: 1,
                    mean: pair[0],
                    longest: pair[1],
                };
                json!(answer_times(&each(kind).map(times).collect::<Vec<_>>()))
            }
            "histogram" => {
                let of = &input[kind];
                let counts: Vec<Vec<u64>> = serde_json::from_value(of["counts"].clone()).unwrap();
                let counts =
                    counts.into_iter().enumerate().map(|(at, counts)| (entrant(at), counts)).collect();
                let (from, width) = (of["from"].as_f64().unwrap(), of["width"].as_f64().unwrap());
                let extremes = serde_json::from_value(of["extremes"].clone()).unwrap_or_default();
                let histograms = ScoreHistograms { score: "score", unit: "", from, width, counts, extremes };
                json!(HistogramScaleBody::from(HistogramScale::new(&histograms)))
            }
            "rating_history" => {
                json!(scale::rating_history(numbers(&input[kind])).map(AxisScaleBody::from))
            }
            "counts" => json!(AxisScaleBody::from(scale::counts(input[kind].as_u64().unwrap()))),
            "magnitudes" => json!(scale::magnitudes(numbers(&input[kind])).map(AxisScaleBody::from)),
            other => panic!("unknown kind of chart: {other}"),
        }
    }

    /// Numbers may differ in the last digits between machines.
    fn assert_close(path: &str, is: &Value, expected: &Value) {
        match (is, expected) {
            (Value::Number(a), Value::Number(b)) => {
                let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
                assert!((a - b).abs() <= 1e-9 * b.abs().max(1e-3), "{path}: {a} is not {b}");
            }
            (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
                for (at, (a, b)) in a.iter().zip(b).enumerate() {
                    assert_close(&format!("{path}[{at}]"), a, b);
                }
            }
            (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => {
                for (key, b) in b {
                    assert_close(&format!("{path}.{key}"), &a[key], b);
                }
            }
            _ => assert_eq!(is, expected, "{path}"),
        }
    }

    #[test]
    fn scales_in_the_api_equal_the_shared_vectors() {
        let cases: Vec<Value> = serde_json::from_str(VECTORS).unwrap();
        assert!(cases.len() >= 8);
        for case in cases {
            let name = case["name"].as_str().unwrap();
            assert_close(name, &scale_of(&case["input"]), &case["scale"]);
        }
    }
}
