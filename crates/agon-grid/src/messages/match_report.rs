//! Wire form of a finished match, from a worker to the coordinator.

use agon_core::FaultReport;
use agon_core::record::Digest;
use agon_league::{Entrant, MatchResult};
use agon_store::{DataFolder, FinishedMatch, MatchFault, PackedOutput, StoredGame, Timestamp};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use sha2::{Digest as _, Sha256};

/// A finished match.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MatchReport {
    /// Match key and results of its games.
    pub result: MatchResult,
    /// Digest and record of each game.
    pub games: Vec<([u8; 32], Option<ByteBuf>)>,
    /// Faults of the bots.
    pub faults: Vec<FaultEntry>,
    /// Data folders after the match: entrant number, packed folder.
    pub data: Vec<(u32, ByteBuf)>,
    /// Output of the bots: game number, seat, packed text.
    pub logs: Vec<(u32, u8, ByteBuf)>,
}

/// A fault in a finished match.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FaultEntry {
    /// Number of the game in its match, from 0.
    pub game: u32,
    /// Turn number, as in the record.
    pub turn: u32,
    /// Seat of the bot.
    pub seat: u8,
    /// Entrant number.
    pub entrant: u32,
    /// Fault and bot output.
    pub report: FaultReport,
}

impl From<FinishedMatch> for MatchReport {
    fn from(finished: FinishedMatch) -> Self {
        let FinishedMatch { result, games, faults, data, bot_outputs: logs, .. } = finished;
        let fault = |one: MatchFault| FaultEntry {
            game: one.game,
            turn: one.turn,
            seat: one.seat,
            entrant: one.entrant.0,
            report: one.report,
        };
        Self {
            result,
            games: games.into_iter().map(|one| (one.digest.0, one.record.map(ByteBuf::from))).collect(),
            faults: faults.into_iter().map(fault).collect(),
            data: data.into_iter().map(|one| (one.entrant.0, ByteBuf::from(one.bytes))).collect(),
            logs: logs
                .into_iter()
                .map(|one| (one.game, one.seat, ByteBuf::from(one.into_packed())))
                .collect(),
        }
    }
}

impl MatchReport {
    /// Converts to the stored form. The end time is now, by the coordinator's clock.
    pub fn into_finished_match(self, worker: &str) -> FinishedMatch {
        let game = |(digest, record): ([u8; 32], Option<ByteBuf>)| StoredGame {
            digest: Digest(digest),
            record: record.map(ByteBuf::into_vec),
        };
        let fault = |one: FaultEntry| MatchFault {
            game: one.game,
            turn: one.turn,
            seat: one.seat,
            entrant: Entrant(one.entrant),
            report: one.report,
        };
        let folder = |(entrant, bytes): (u32, ByteBuf)| {
            let hash = Digest(Sha256::digest(&bytes).into());
            DataFolder { entrant: Entrant(entrant), hash, bytes: bytes.into_vec() }
        };
        let log = |(game, seat, packed): (u32, u8, ByteBuf)| {
            PackedOutput::from_packed(game, seat, packed.into_vec())
        };
        FinishedMatch {
            result: self.result,
            games: self.games.into_iter().map(game).collect(),
            faults: self.faults.into_iter().map(fault).collect(),
            data: self.data.into_iter().map(folder).collect(),
            bot_outputs: self.logs.into_iter().map(log).collect(),
            finished: Timestamp::now(),
            worker: Some(worker.to_owned()),
        }
    }
}
