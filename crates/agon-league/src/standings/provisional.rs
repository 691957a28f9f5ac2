//! Standings of a phase that is not finished: without medals, and with the entrants that have not played yet.

use agon_core::GameInfo;

use super::row::{self, DISQUALIFIED};
use super::{EntrantName, Standings, StandingsTable, TableCell, TableRow, rulings};
use crate::config::EntrantSpec;
use crate::result::Entrant;

impl Standings {
    /// Removes the medals, because the places of a phase that is not finished can still change.
    pub fn remove_medals(&mut self) {
        for table in &mut self.tables {
            let Some(at) = table.columns.iter().position(|column| column.id == "medal") else { continue };
            for cell in table.rows.iter_mut().filter_map(|row| row.cells.get_mut(at)) {
                *cell = TableCell::Empty;
            }
        }
    }

    /// Adds the entrants of `field` that have not played: a row at the end of each table of their role, with their name and otherwise
    /// empty cells. Returns these entrants.
    pub fn add_entrants_without_games(
        &mut self,
        game: &GameInfo,
        entrants: &[EntrantSpec],
        field: &[Entrant],
    ) -> Vec<Entrant> {
        // The entrants are in the order of the file.
        let has_played =
            |entrant: &Entrant| self.entrants.binary_search_by_key(entrant, |one| one.entrant).is_ok();
        let mut added: Vec<Entrant> = field.iter().copied().filter(|entrant| !has_played(entrant)).collect();
        added.sort_unstable();
        added.retain(|entrant| entrants.get(entrant.index()).is_some());
        for &entrant in &added {
            let Some(spec) = entrants.get(entrant.index()) else { continue };
            let reason = rulings::disqualification_reason(&self.rulings, entrant).map(ToOwned::to_owned);
            for table in self.tables.iter_mut().filter(|table| takes(game, table, spec)) {
                let row = row_without_games(table, entrant, spec, reason.is_some());
                table.rows.push(row);
            }
            self.entrants.push(EntrantName::new(entrant, Some(spec), reason.as_deref()));
        }
        self.entrants.sort_by_key(|one| one.entrant);
        added
    }
}

/// Whether an entrant belongs into a table.
fn takes(game: &GameInfo, table: &StandingsTable, spec: &EntrantSpec) -> bool {
    if table.ranked_by_time && spec.bot.house_name().is_some() {
        return false;
    }
    if let Some(info) = game.standings.tables.iter().find(|info| info.id == table.id) {
        return info.role.is_none_or(|role| spec.role == Some(role));
    }
    match table.id.strip_prefix("confidence") {
        Some("") => true,
        Some(of_role) => spec.role.is_some_and(|role| of_role == format!("-{role}s")),
        None => false,
    }
}

fn row_without_games(
    table: &StandingsTable,
    entrant: Entrant,
    spec: &EntrantSpec,
    disqualified: bool,
) -> TableRow {
    let name = row::name_with_marks(spec);
    let name = if disqualified { format!("{name} ({DISQUALIFIED})") } else { name };
    let cells = table.columns.iter().map(|column| match column.id.as_str() {
        "name" => TableCell::Text(name.clone()),
        "contributor" => spec.contributor.clone().map_or(TableCell::Empty, TableCell::Text),
        _ => TableCell::Empty,
    });
    TableRow { entrant: Some(entrant), cells: cells.collect() }
}

#[cfg(test)]
mod tests {
    use super::super::{StandingsRequest, standings};
    use super::*;
    use crate::simulated;

    /// Standings of a game in which only the first entrants have played.
    fn begun(league: &simulated::League) -> Standings {
        standings(
            &league.tally(),
            &StandingsRequest {
                competition: "Test",
                phase: "phase 1",
                game: league.game,
                entrants: &league.entrants,
                placing: &[],
                rulings: &[],
            },
        )
    }

    #[test]
    fn entrants_without_games_are_last_with_their_names_and_empty_cells() {
        let mut league = simulated::arena("colour-battle", &["a by Ann", "b", "c"], 3, 1);
        league.entrants.extend(simulated::entrants(&["d by Dan", "e"]));
        let mut table = begun(&league);
        let field: Vec<Entrant> = [4, 3, 0, 1, 2].map(Entrant).to_vec();
        assert_eq!(
            table.add_entrants_without_games(league.game, &league.entrants, &field),
            [Entrant(3), Entrant(4)]
        );
        for id in ["score", "efficiency", "confidence"] {
            let rows = &table.table(id).unwrap().rows;
            assert_eq!(rows.len(), 5, "{id}");
            assert_eq!((rows[3].entrant, rows[4].entrant), (Some(Entrant(3)), Some(Entrant(4))), "{id}");
            assert_eq!(rows[3].cells[..2], [TableCell::Empty, TableCell::Text("d".to_owned())], "{id}");
            assert!(rows[4].cells[2..].iter().all(|cell| *cell == TableCell::Empty), "{id}");
        }
        let score = table.table("score").unwrap();
        assert_eq!(score.rows[3].cells[2], TableCell::Text("Dan".to_owned()));
        assert_eq!(table.entrants.iter().map(|one| one.entrant.0).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        // Nothing is added twice, and entrants that are not in the field stay out.
        assert!(table.add_entrants_without_games(league.game, &league.entrants, &field).is_empty());
        let mut part = begun(&league);
        assert_eq!(part.add_entrants_without_games(league.game, &league.entrants, &field[..1]), [Entrant(4)]);
    }

    #[test]
    fn medals_are_removed() {
        let names = ["a", "b", "c", "d"];
        let mut entrants = simulated::entrants(&names);
        for (at, one) in entrants.iter_mut().enumerate() {
            one.role = Some(if at % 2 == 0 { "seeker" } else { "hider" });
        }
        let results = vec![
            simulated::match_of(&[(0, 10.0), (1, 10.0)], &[]),
            simulated::match_of(&[(0, 20.0), (3, 20.0)], &[]),
        ];
        let league = simulated::League { game: simulated::game("hide-and-seek"), entrants, results };
        let mut table = begun(&league);
        let medals = |standings: &Standings| {
            let cells = standings.tables.iter().flat_map(|table| &table.rows).flat_map(|row| &row.cells);
            cells.filter(|cell| matches!(cell, TableCell::Text(text) if text == "gold")).count()
        };
        assert!(medals(&table) > 0);
        table.remove_medals();
        assert_eq!(medals(&table), 0);
        // The third entrant is a seeker and is missing in the table of the hiders.
        table.add_entrants_without_games(league.game, &league.entrants, &[Entrant(2)]);
        let listed = |role: &str| {
            let info = league.game.standings.tables.iter().find(|info| info.role == Some(role)).unwrap();
            let rows = &table.table(info.id).unwrap().rows;
            rows.iter().any(|row| row.entrant == Some(Entrant(2)))
        };
        assert_eq!((listed("seeker"), listed("hider")), (true, false));
    }
}
