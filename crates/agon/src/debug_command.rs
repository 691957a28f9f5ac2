//! The line that an author pastes after a fault in `agon play`.

use std::path::PathBuf;

use agon_bots::SandboxMode;
use agon_bots::debug_line::{FaultPlace, GameOptions, debug_line, play_line, unused_record};
use agon_core::GameInfo;
use agon_core::record::FaultRecord;
use agon_engine::{PlayedGame, PlayerSpec};

use crate::args::{Play, Python};
use crate::setup;

/// The line to paste after a fault: `agon debug ...`, after a game that was not recorded with the command that records it.
pub struct DebugCommand {
    info: &'static GameInfo,
    settings: Vec<String>,
    sandbox: SandboxMode,
    python: Python,
    match_games: Option<u32>,
    record: PathBuf,
    /// Bots and seed of the games, if they are not recorded yet.
    again: Option<(Vec<String>, u64)>,
}

impl DebugCommand {
    /// `None` if the games cannot be played again: a human took part, and no record is written.
    pub fn new(args: &Play, info: &'static GameInfo, seats: &[PlayerSpec], seed: u64) -> Option<Self> {
        if args.record.is_none() && seats.contains(&PlayerSpec::Human) {
            return None;
        }
        Some(Self {
            info,
            settings: args.setup.settings.clone(),
            sandbox: args.sandbox,
            python: args.python.clone(),
            match_games: args.match_games,
            record: args.record.clone().unwrap_or_else(|| unused_record(setup::current_dir())),
            again: args.record.is_none().then(|| (args.bots.clone(), seed)),
        })
    }

    /// The line for a fault of a game. `number` is the number of the game in the record, from 1: a match that is lost early has fewer games.
    pub fn line(&self, played: &PlayedGame, number: u32, fault: &FaultRecord) -> String {
        let is_after_game = fault.is_after_game(played.turns);
        let place = FaultPlace { game: number, seat: fault.seat, turn: fault.turn, is_after_game };
        let options = GameOptions {
            info: self.info,
            settings: &self.settings,
            sandbox: self.sandbox,
            python: self.python.options(),
            match_games: self.match_games,
        };
        let debug = debug_line(&self.record, place, &fault.report, &options);
        match &self.again {
            None => debug,
            Some((bots, seed)) => {
                let play = play_line(&options, bots, *seed, played.index + 1, &self.record);
                format!("{play}; {debug}")
            }
        }
    }
}
