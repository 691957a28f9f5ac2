//! Standings for programs. What is here keeps its meaning while [`VERSION`] does.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value as Json, json};

use super::{Cell, Histograms, EntrantRow, PairStanding, EntrantName, Row, RulingNote, StandingsTable, Standings};

/// Raised when a field changes its meaning or goes away.
pub const VERSION: u32 = 1;

impl Standings {
    /// As a JSON document.
    pub fn json(&self) -> Json {
        json!({
            "agon": "table",
            "version": VERSION,
            "competition": self.competition,
            "phase": self.phase,
            "game": self.game,
            "matches": self.matches,
            "games": self.games,
            "entrants": self.entrants.iter().map(named).collect::<Vec<_>>(),
            "sheets": self.sheets.iter().map(sheet).collect::<Vec<_>>(),
            "head_to_head": self.head_to_head.iter().map(meeting).collect::<Vec<_>>(),
            "histogram": self.histogram.as_ref().map(histogram),
            "ratings": self.ratings.iter().map(|rating| json!({
                "entrant": rating.entrant, "rating": short(rating.rating), "error": short(rating.error),
            })).collect::<Vec<_>>(),
            "open": self.open,
            "rulings": self.rulings.iter().map(RulingNote::json).collect::<Vec<_>>(),
        })
    }
}

impl Serialize for Standings {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.json().serialize(to)
    }
}

pub(super) fn plain_name(line: &EntrantRow<'_>) -> String {
    line.named().name
}

fn named(named: &EntrantName) -> Json {
    let marks = named.marks.iter().map(|(mark, note)| json!({"mark": mark, "note": note}));
    json!({
        "entrant": named.entrant,
        "name": named.name,
        "contributor": named.contributor,
        "marks": marks.collect::<Vec<_>>(),
    })
}

/// Six digits after the point: more is noise, and looks like knowledge.
fn short(x: f64) -> Json {
    if !x.is_finite() {
        return Json::Null;
    }
    let rounded = (x * 1e6).round() / 1e6;
    // No minus before nothing.
    json!(if rounded == 0.0 { 0.0 } else { rounded })
}

fn cell(cell: &Cell) -> Json {
    match cell {
        Cell::Empty => Json::Null,
        Cell::Text(text) => json!(text),
        Cell::Int(n) => json!(n),
        Cell::Real(x, ..) => short(*x),
        Cell::Interval(low, high, _) => json!({"low": short(*low), "high": short(*high)}),
        Cell::Time(ns) => short(ns / 1000.0),
    }
}

fn sheet(sheet: &StandingsTable) -> Json {
    let columns = sheet.columns.iter().map(|column| json!({"id": column.id, "title": column.title}));
    let row = |row: &Row| {
        let mut map = Map::new();
        map.insert("entrant".to_owned(), json!(row.entrant));
        map.extend(sheet.columns.iter().zip(&row.cells).map(|(column, c)| (column.id.clone(), cell(c))));
        Json::Object(map)
    };
    json!({
        "id": sheet.id,
        "title": sheet.title,
        "official": sheet.official,
        "columns": columns.collect::<Vec<_>>(),
        "rows": sheet.rows.iter().map(row).collect::<Vec<_>>(),
        "notes": sheet.notes,
    })
}

fn meeting(met: &PairStanding) -> Json {
    json!({
        "one": met.one,
        "other": met.other,
        "games": met.games,
        "won": met.won,
        "drawn": met.drawn,
        "lost": met.lost,
        "points": met.points.map(|(a, b)| [short(a), short(b)]),
        "scores": [short(met.scores.0), short(met.scores.1)],
    })
}

fn histogram(histogram: &Histograms) -> Json {
    let counts =
        histogram.counts.iter().map(|(entrant, counts)| json!({"entrant": entrant, "counts": counts}));
    json!({
        "score": histogram.score,
        "unit": histogram.unit,
        "from": short(histogram.from),
        "width": short(histogram.width),
        "entrants": counts.collect::<Vec<_>>(),
    })
}
