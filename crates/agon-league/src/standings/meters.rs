//! How the CPU time of the bots was measured: a note below the first official table.

use agon_core::MeterKind;
use agon_core::text_format::plural;

use super::StandingsTable;
use crate::tally::Tally;

/// Games of bots by the meter of their CPU time. A game counts once for each bot.
pub(super) fn count(tally: &Tally) -> Vec<(MeterKind, u64)> {
    let games = |kind: MeterKind| tally.entrants().map(|(_, totals)| totals.meters[kind as usize]).sum();
    MeterKind::ALL.into_iter().map(|kind| (kind, games(kind))).filter(|&(_, games)| games > 0).collect()
}

/// The note; `None` if no bot was a process.
pub(super) fn note(meters: &[(MeterKind, u64)]) -> Option<String> {
    let describe = |kind: MeterKind| match kind {
        MeterKind::Cgroup => "cgroup, which counts all processes of a bot",
        MeterKind::Process => "process clock, where bots can start no processes",
        MeterKind::RunningProcesses => "running processes, without a sandbox",
    };
    match meters {
        [] => None,
        [(kind, _)] => Some(format!("CPU time was measured by {}.", describe(*kind))),
        several => {
            let part = |&(kind, games): &(MeterKind, u64)| {
                format!("{} in {}", describe(kind), plural(games, "game", "games"))
            };
            let parts: Vec<String> = several.iter().map(part).collect();
            Some(format!("CPU time was measured by {}. (A game counts once for each bot.)", parts.join("; ")))
        }
    }
}

/// Adds the note to the first official table.
pub(super) fn add_note(tables: &mut [StandingsTable], meters: &[(MeterKind, u64)]) {
    if let Some(table) = tables.iter_mut().find(|table| table.official) {
        table.notes.extend(note(meters));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{StandingsRequest, standings};
    use super::*;
    use crate::simulated;

    #[test]
    fn meters_are_named_below_the_first_table_and_are_not_part_of_what_must_be_reproduced() {
        let mut league = simulated::round_robin("word-racer", &[0.0, 0.5], 4, 2);
        let shown = |league: &simulated::League| {
            let request = StandingsRequest {
                competition: "Test",
                phase: "phase 1",
                game: league.game,
                entrants: &league.entrants,
                placing: &[],
                rulings: &[],
            };
            standings(&league.tally(), &request)
        };
        let without = shown(&league);
        assert_eq!(without.json()["meters"], serde_json::Value::Null);
        for seat in
            league.results.iter_mut().flat_map(|result| &mut result.games).flat_map(|game| &mut game.seats)
        {
            seat.meter = Some(MeterKind::Cgroup);
        }
        let strong = shown(&league);
        let added = |now: &super::super::Standings| {
            let (before, notes) = (&without.tables[0].notes, &now.tables[0].notes);
            assert_eq!(before[..], notes[..before.len()]);
            notes[before.len()..].to_vec()
        };
        assert_eq!(added(&strong), ["CPU time was measured by cgroup, which counts all processes of a bot."]);
        league.results[0].games[0].seats[1].meter = Some(MeterKind::Process);
        let mixed = shown(&league);
        let cgroup = mixed.meters[0].1;
        assert_eq!(mixed.meters, [(MeterKind::Cgroup, cgroup), (MeterKind::Process, 1)]);
        let note = added(&mixed).concat();
        assert!(note.contains(&format!("in {cgroup} games; process clock")), "{note}");
        assert!(note.contains("no processes in 1 game."), "{note}");
        assert_eq!(mixed.json()["meters"], serde_json::json!({"cgroup": cgroup, "process": 1}));
        assert_eq!(mixed.without_times(), without.without_times());
        assert_eq!(mixed.without_times().json(), without.without_times().json());
    }
}
