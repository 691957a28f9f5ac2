//! Notes below tables with times: what an empty answer costs is not part of them.

use agon_core::GameInfo;
use agon_core::standings_rules::{ColumnValue, TableOrder};

use super::StandingsTable;
use crate::tally::Tally;

/// Note below a ranking by time.
const RANKING_NOTE: &str = "House bots are not ranked. A time below 1 us counts as 1 us.";

/// Mean cost of an empty answer in microseconds, over all answers for which it was measured.
pub(super) fn mean_us(tally: &Tally) -> Option<f64> {
    let sum = |of: fn(&crate::tally::EntrantTotals) -> u64| -> u64 {
        tally.entrants().map(|(_, totals)| of(totals)).sum()
    };
    let (cost, answers) = (sum(|totals| totals.empty_ns), sum(|totals| totals.measured_answers));
    (answers > 0).then(|| cost as f64 / 1000.0 / answers as f64)
}

/// The note; `None` if nothing was measured.
pub(super) fn note(mean_us: Option<f64>) -> Option<String> {
    let cost = mean_us?;
    Some(format!(
        "Times are the bots' own: an empty answer, measured in the same games on the same cores, costs {cost:.1} us, which is not included."
    ))
}

/// Adds the notes to the official tables that show times.
pub(super) fn add_notes(tables: &mut [StandingsTable], game: &GameInfo, mean_us: Option<f64>) {
    for table in tables {
        let Some(info) = game.standings.tables.iter().find(|info| info.id == table.id) else { continue };
        if info.columns.iter().any(|column| column.value == ColumnValue::MeanTime) {
            table.notes.extend(note(mean_us));
        }
        if info.order == TableOrder::ScorePerTime {
            table.notes.push(RANKING_NOTE.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Standings, StandingsRequest, TableCell, standings};
    use crate::config::EntrantBot;
    use crate::simulated;

    fn shown(league: &simulated::League) -> Standings {
        let request = StandingsRequest {
            competition: "Test",
            phase: "phase 1",
            game: league.game,
            entrants: &league.entrants,
            placing: &[],
            rulings: &[],
        };
        standings(&league.tally(), &request)
    }

    fn efficiency_names(standings: &Standings) -> Vec<String> {
        let table = standings.table("efficiency").unwrap();
        let name =
            |cell: &TableCell| if let TableCell::Text(name) = cell { name.clone() } else { String::new() };
        table.rows.iter().map(|row| name(&row.cells[1])).collect()
    }

    /// A league with the given charged times per answer, in microseconds.
    fn league(times: &[u64; 3]) -> simulated::League {
        let mut league = simulated::arena("colour-battle", &["a", "b", "c"], 3, 2);
        for seat in league.results.iter_mut().flat_map(|one| &mut one.games).flat_map(|game| &mut game.seats)
        {
            seat.score = crate::FixedPoint::from_int(3);
            seat.answers = 100;
            seat.thought_ns = times[seat.entrant.index()] * 100_000;
        }
        league
    }

    #[test]
    fn empty_answers_are_taken_out_and_the_tables_say_so() {
        let mut league = league(&[33, 53, 233]);
        let raw = shown(&league);
        assert_eq!(raw.empty_answer_us, None);
        for seat in league.results.iter_mut().flat_map(|one| &mut one.games).flat_map(|game| &mut game.seats)
        {
            seat.empty_ns = 31 * 100_000;
        }
        let own = shown(&league);
        let times: Vec<f64> = own
            .table("score")
            .unwrap()
            .rows
            .iter()
            .map(|row| match row.cells[3] {
                TableCell::Real(time, ..) => time,
                _ => f64::NAN,
            })
            .collect();
        assert_eq!(times, [2.0, 22.0, 202.0]);
        let note = "Times are the bots' own: an empty answer, measured in the same games on the same cores, costs 31.0 us, which is not included.";
        for table in ["score", "efficiency"] {
            assert!(own.table(table).unwrap().notes.iter().any(|text| text == note), "{table}");
            assert!(
                !raw.table(table).unwrap().notes.iter().any(|text| text.contains("empty answer")),
                "{table}"
            );
        }
        assert_eq!(own.json()["empty_answer_us"], 31.0);
        assert_eq!(own.without_times(), raw.without_times());
        assert_eq!(own.without_times().json(), raw.without_times().json());
    }

    #[test]
    fn house_bots_are_not_ranked_by_efficiency() {
        let mut league = league(&[33, 53, 233]);
        let all: Vec<String> = league.entrants.iter().map(|one| one.name.clone()).collect();
        assert_eq!(efficiency_names(&shown(&league)), all);
        league.entrants[1].bot = EntrantBot::Spec("house:sweeper".to_owned());
        let bots = shown(&league);
        assert_eq!(efficiency_names(&bots), [all[0].clone(), all[2].clone()]);
        assert_eq!(bots.table("score").unwrap().rows.len(), 3);
        for one in &mut league.entrants {
            one.bot = EntrantBot::Spec("house:sweeper".to_owned());
        }
        assert!(shown(&league).table("efficiency").is_none(), "nothing to rank");
    }

    #[test]
    fn bot_whose_answers_cost_nothing_is_ranked_first() {
        let mut league = league(&[33, 30, 233]);
        for seat in league.results.iter_mut().flat_map(|one| &mut one.games).flat_map(|game| &mut game.seats)
        {
            seat.empty_ns = 31 * 100_000;
        }
        let names: Vec<String> =
            [1, 0, 2].iter().map(|&at: &usize| league.entrants[at].name.clone()).collect();
        assert_eq!(efficiency_names(&shown(&league)), names);
    }
}
