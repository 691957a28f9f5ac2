//! The official tables of a series of games, as a competition of these games would print them.

use agon_core::{GameInfo, SelfDescription};
use agon_engine::{PlayedGame, PlayerSpec};
use agon_league::config::{EntrantBot, EntrantSpec, self_descriptions};
use agon_league::standings::{Standings, StandingsRequest, standings};
use agon_league::tally::Tally;
use agon_league::{Entrant, MatchKey, MatchResult};
use agon_runner::match_runner::game_result;

/// The results of a series, one entrant for each seat.
pub struct PlayTables {
    info: &'static GameInfo,
    entrants: Vec<EntrantSpec>,
    seats: Vec<Entrant>,
    tally: Tally,
}

impl PlayTables {
    /// The tables of a series. `None` in a game whose series do not count like a competition. `names` are the names of the seats.
    pub fn new(
        info: &'static GameInfo,
        seats: &[PlayerSpec],
        names: &[String],
        says: &[SelfDescription],
    ) -> Option<Self> {
        if !info.standings.tables_of_series {
            return None;
        }
        let entrant = |(player, name): (&PlayerSpec, &String)| EntrantSpec {
            name: name.clone(),
            name_given: false,
            bot: EntrantBot::Spec(player.spec()),
            contributor: None,
            marks: Vec::new(),
            role: None,
        };
        let entrants: Vec<EntrantSpec> = seats.iter().zip(names).map(entrant).collect();
        Some(Self {
            info,
            entrants: self_descriptions::shown_entrants(&entrants, says),
            seats: (0..seats.len() as u32).map(Entrant).collect(),
            tally: Tally::new(info),
        })
    }

    /// Adds a game.
    pub fn add(&mut self, played: &PlayedGame) {
        let key = MatchKey { phase: 0, stage: 0, number: played.index.into() };
        let games = vec![game_result(&self.seats, 0, played)];
        self.tally.add(&MatchResult { key, games, points: Vec::new() });
    }

    /// The official tables.
    pub fn standings(&self) -> Standings {
        let request = StandingsRequest {
            competition: self.info.title,
            phase: "",
            game: self.info,
            entrants: &self.entrants,
            placing: &[],
            rulings: &[],
        };
        let mut standings = standings(&self.tally, &request);
        standings.tables.retain(|table| table.official);
        standings
    }
}
