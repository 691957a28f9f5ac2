//! The line that an author pastes after a fault in `agon play`.

use std::path::PathBuf;

use agon_bots::SandboxMode;
use agon_bots::debug_line::{FaultPlace, GameOptions, debug_line, quote, unused_record};
use agon_core::GameInfo;
use agon_core::record::FaultRecord;
use agon_engine::PlayerSpec;

use crate::args::Play;
use crate::setup;

/// The line to paste after a fault: `agon debug ...`, after a game that was not recorded with the command that records it.
pub struct DebugCommand {
    info: &'static GameInfo,
    settings: Vec<String>,
    sandbox: SandboxMode,
    record: PathBuf,
    /// The command that writes the record, without the number of games.
    again: Option<String>,
}

impl DebugCommand {
    /// `None` if the games cannot be played again: a human took part, and no record is written.
    pub fn new(args: &Play, info: &'static GameInfo, seats: &[PlayerSpec], seed: u64) -> Option<Self> {
        let (settings, sandbox) = (args.setup.settings.clone(), args.sandbox);
        if let Some(record) = &args.record {
            return Some(Self { info, settings, sandbox, record: record.clone(), again: None });
        }
        if seats.contains(&PlayerSpec::Human) {
            return None;
        }
        let bots: Vec<String> = args.bots.iter().map(|bot| quote(bot)).collect();
        let matches = args.match_games.map_or_else(String::new, |games| format!(" --match-games {games}"));
        let words = GameOptions { info, settings: &settings, sandbox }.words();
        let again = format!("agon play {} {} --seed {seed}{matches}{words}", args.game, bots.join(" "));
        let record = unused_record(setup::current_dir());
        Some(Self { info, settings, sandbox, record, again: Some(again) })
    }

    /// The line for a fault of game `game`, from 0.
    pub fn line(&self, game: u32, fault: &FaultRecord) -> String {
        let place = FaultPlace { game: game + 1, seat: fault.seat, turn: fault.turn };
        let options = GameOptions { info: self.info, settings: &self.settings, sandbox: self.sandbox };
        let line = debug_line(&self.record, place, &fault.report, &options);
        match &self.again {
            None => line,
            Some(again) => {
                let record = quote(&self.record.display().to_string());
                format!("{again} --games {} --record {record}; {line}", game + 1)
            }
        }
    }
}
