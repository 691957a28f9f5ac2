//! A finished match on its way from a worker to the coordinator.

use agon_core::FaultReport;
use agon_core::record::Digest;
use agon_league::{Entrant, MatchResult};
use agon_store::{DataFolder, FinishedMatch, StoredGame, MatchFault, PackedOutput, Timestamp};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use sha2::{Digest as _, Sha256};

/// A finished match.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MatchReport {
    /// Its key and its games' results.
    pub result: MatchResult,
    /// Each game's digest and record.
    pub games: Vec<([u8; 32], Option<ByteBuf>)>,
    /// Its faults.
    pub faults: Vec<FaultEntry>,
    /// What bots keep after it: entrant, packed folder.
    pub data: Vec<(u32, ByteBuf)>,
    /// What bots printed: game, seat, packed.
    pub logs: Vec<(u32, u8, ByteBuf)>,
}

/// An entry of the fault list.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FaultEntry {
    /// Which game of the match, from 0.
    pub game: u32,
    /// Which turn, as in the record.
    pub turn: u32,
    /// Where it sat.
    pub seat: u8,
    /// Who.
    pub entrant: u32,
    /// What, and the bot's own words.
    pub report: FaultReport,
}

impl From<FinishedMatch> for MatchReport {
    fn from(finished: FinishedMatch) -> Self {
        let FinishedMatch { result, games, faults, data, logs, .. } = finished;
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
    /// As it is kept: over now, by this machine's clock, and played by this worker.
    pub fn finished(self, worker: &str) -> FinishedMatch {
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
        let log =
            |(game, seat, packed): (u32, u8, ByteBuf)| PackedOutput::from_packed(game, seat, packed.into_vec());
        FinishedMatch {
            result: self.result,
            games: self.games.into_iter().map(game).collect(),
            faults: self.faults.into_iter().map(fault).collect(),
            data: self.data.into_iter().map(folder).collect(),
            logs: self.logs.into_iter().map(log).collect(),
            finished: Timestamp::now(),
            worker: Some(worker.to_owned()),
        }
    }
}
