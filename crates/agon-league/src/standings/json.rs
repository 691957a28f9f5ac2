//! JSON form of standings. Fields keep their meaning as long as [`VERSION`] stays the same.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value as Json, json};

use super::{
    EntrantName, EntrantRow, PairStanding, RulingNote, ScoreHistograms, Standings, StandingsTable, TableCell,
    TableRow, machine_faults,
};

/// Raised when a field is removed or changes its meaning.
pub const VERSION: u32 = 1;

impl Standings {
    /// The standings as a JSON document.
    pub fn json(&self) -> Json {
        let mut document = json!({
            "agon": "table",
            "version": VERSION,
            "competition": self.competition,
            "phase": self.phase,
            "game": self.game,
            "matches": self.matches,
            "games": self.games,
            "entrants": self.entrants.iter().map(entrant_json).collect::<Vec<_>>(),
            "sheets": self.tables.iter().map(table_json).collect::<Vec<_>>(),
            "head_to_head": self.head_to_head.iter().map(pair_json).collect::<Vec<_>>(),
            "histogram": self.histogram.as_ref().map(histogram_json),
            "ratings": self.ratings.iter().map(|rating| json!({
                "entrant": rating.entrant, "rating": rounded_json(rating.rating), "error": rounded_json(rating.error),
            })).collect::<Vec<_>>(),
            "open": self.open,
            "rulings": self.rulings.iter().map(RulingNote::json).collect::<Vec<_>>(),
        });
        if !self.meters.is_empty() {
            let games = self.meters.iter().map(|(meter, games)| (meter.name().to_owned(), json!(games)));
            document["meters"] = Json::Object(games.collect());
        }
        if let Some(cost) = self.empty_answer_us {
            document["empty_answer_us"] = json!(cost);
        }
        document
    }
}

impl Serialize for Standings {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.json().serialize(to)
    }
}

pub(super) fn plain_name(row: &EntrantRow<'_>) -> String {
    row.entrant_name().name
}

fn entrant_json(entrant: &EntrantName) -> Json {
    let marks = entrant.marks.iter().map(|(mark, note)| json!({"mark": mark, "note": note}));
    json!({
        "entrant": entrant.entrant,
        "name": entrant.name,
        "contributor": entrant.contributor,
        "marks": marks.collect::<Vec<_>>(),
    })
}

/// Rounds to six decimals: more digits are noise.
fn rounded_json(x: f64) -> Json {
    if !x.is_finite() {
        return Json::Null;
    }
    let rounded = (x * 1e6).round() / 1e6;
    // Avoid -0.
    json!(if rounded == 0.0 { 0.0 } else { rounded })
}

fn cell_json(cell: &TableCell) -> Json {
    match cell {
        TableCell::Empty => Json::Null,
        TableCell::Text(text) => json!(text),
        TableCell::Int(n) => json!(n),
        TableCell::Real(x, ..) => rounded_json(*x),
        TableCell::Interval(low, high, _) => json!({"low": rounded_json(*low), "high": rounded_json(*high)}),
        TableCell::Time(ns) => rounded_json(ns / 1000.0),
        TableCell::Faults(counts) => json!(machine_faults(*counts)),
    }
}

fn table_json(table: &StandingsTable) -> Json {
    let columns = table.columns.iter().map(|column| json!({"id": column.id, "title": column.title}));
    let row = |row: &TableRow| {
        let mut map = Map::new();
        map.insert("entrant".to_owned(), json!(row.entrant));
        map.extend(table.columns.iter().zip(&row.cells).map(|(column, c)| (column.id.clone(), cell_json(c))));
        Json::Object(map)
    };
    json!({
        "id": table.id,
        "title": table.title,
        "official": table.official,
        "columns": columns.collect::<Vec<_>>(),
        "rows": table.rows.iter().map(row).collect::<Vec<_>>(),
        "notes": table.notes,
    })
}

fn pair_json(pair: &PairStanding) -> Json {
    json!({
        "one": pair.one,
        "other": pair.other,
        "games": pair.games,
        "won": pair.won,
        "drawn": pair.drawn,
        "lost": pair.lost,
        "points": pair.points.map(|(a, b)| [rounded_json(a), rounded_json(b)]),
        "scores": [rounded_json(pair.scores.0), rounded_json(pair.scores.1)],
    })
}

fn histogram_json(histogram: &ScoreHistograms) -> Json {
    let counts =
        histogram.counts.iter().map(|(entrant, counts)| json!({"entrant": entrant, "counts": counts}));
    json!({
        "score": histogram.score,
        "unit": histogram.unit,
        "from": rounded_json(histogram.from),
        "width": rounded_json(histogram.width),
        "entrants": counts.collect::<Vec<_>>(),
    })
}
