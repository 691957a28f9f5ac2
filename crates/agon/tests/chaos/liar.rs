//! A worker with a modified engine. It follows the protocol, but reports results that were not played. Its reports are consistent up to the
//! checksums, so that only playing the match again reveals them.

use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use agon_core::record::{Digest, Recorder};
use agon_engine::any_game::{PlayError, bot_hash};
use agon_engine::{PlayerSpec, Reporter};
use agon_grid::worker::{MatchBackend, Worker, WorkerOptions};
use agon_grid::{NatsConnection, NatsOptions};
use agon_league::{Entrant, MatchKey};
use agon_runner::{LoadedEntrant, MatchRunner, StopFlag};
use agon_store::{FinishedMatch, StoredGame};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// Kind of the lie.
#[derive(Clone, Copy, Debug)]
enum Lie {
    /// Losers and winners are swapped, which contradicts the rules.
    Turned,
    /// Another bot played under the name and hash of the right one. This follows the rules, but other workers get other results.
    Replaced,
}

/// A running lying worker. It stops when this is dropped.
pub struct Liar {
    pub name: String,
    stop: Arc<StopFlag>,
    thread: Option<JoinHandle<()>>,
}

impl Liar {
    pub fn enter(url: &str, folder: &Path, chance: u64) -> Self {
        let lie = if chance.is_multiple_of(2) { Lie::Turned } else { Lie::Replaced };
        let name = format!("liar-{}-{:x}", format!("{lie:?}").to_lowercase(), chance >> 48);
        let stop = Arc::new(StopFlag::new());
        let options = NatsOptions { url: url.to_owned(), name: name.clone(), ..NatsOptions::default() };
        let mut work = WorkerOptions::new(name.clone());
        work.cores = 1;
        work.cache_folder = folder.join(&name);
        work.backend = Arc::new(lie);
        let (until, told) = (Arc::clone(&stop), name.clone());
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
            let runtime = runtime.unwrap();
            // The server may be down at the moment.
            let link = loop {
                match runtime.block_on(NatsConnection::connect(&options)) {
                    Ok(link) => break link,
                    Err(_) if !until.is_requested() => {}
                    Err(_) => return,
                }
            };
            let ended =
                Worker::run(link, &runtime, work, &until, &|words| eprintln!("           {told}: {words}"));
            eprintln!("           {told} is gone: {ended:?}");
        });
        Self { name, stop, thread: Some(thread) }
    }
}

impl Drop for Liar {
    fn drop(&mut self) {
        self.stop.request();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl MatchBackend for Lie {
    fn play<'p>(
        &self,
        runner: &MatchRunner<'_>,
        key: MatchKey,
        members: &[(Entrant, &LoadedEntrant)],
        seed: u64,
        recorder: &'p mut Recorder,
        reporter: Option<&'p mut (dyn Reporter + 'p)>,
    ) -> Result<FinishedMatch, PlayError> {
        match self {
            Self::Turned => {
                let mut finished = runner.play(key, members, seed, recorder, reporter)?;
                for game in &mut finished.result.games {
                    let told: Vec<_> = game.seats.iter().rev().map(|s| (s.score, s.place, s.stats)).collect();
                    for (seat, told) in game.seats.iter_mut().zip(told) {
                        (seat.score, seat.place, seat.stats) = told;
                    }
                }
                finished.result.points.reverse();
                for game in &mut finished.games {
                    forge(game, turned);
                }
                Ok(finished)
            }
            Self::Replaced => {
                let (entrant, right) = members[0];
                let wrong = LoadedEntrant { player: PlayerSpec::House("random".to_owned()), ..right.clone() };
                let mut seats = members.to_vec();
                seats[0] = (entrant, &wrong);
                let mut finished = runner.play(key, &seats, seed, recorder, reporter)?;
                let told = |who: &LoadedEntrant| {
                    let hash = bot_hash(runner.game.info(), &who.player);
                    [format!("\"{}\"", who.player.spec()), format!("\"{hash}\"")]
                };
                let (wrong, right) = (told(&wrong), told(right));
                for game in &mut finished.games {
                    // The record names the right bot to the byte, so that a replay gives the same digest.
                    forge(game, |line| {
                        let is_head = line.contains("\"seats\":[{\"name\"");
                        let change =
                            |line: String, (from, to): (&String, &String)| line.replacen(from, to, 1);
                        is_head.then(|| wrong.iter().zip(&right).fold(line.to_owned(), change))
                    });
                }
                Ok(finished)
            }
        }
    }
}

/// The line of a record with the result, with winners and losers swapped.
fn turned(line: &str) -> Option<String> {
    let mut value: Value = serde_json::from_str(line).unwrap();
    value.pointer_mut("/end/outcome/seats")?.as_array_mut()?.reverse();
    Some(value.to_string())
}

/// Rewrites a record with changed lines and matching checksums. Unchanged lines stay the same to the byte.
fn forge(game: &mut StoredGame, change: impl Fn(&str) -> Option<String>) {
    let Some(record) = &mut game.record else { return };
    let length = zstd::zstd_safe::find_frame_compressed_size(record).unwrap();
    let lines = String::from_utf8(zstd::decode_all(&record[..length]).unwrap()).unwrap();
    let (mut forged, mut digest) = (String::new(), None);
    for line in lines.lines() {
        if let (Some(digest), true) = (digest, line.starts_with("{\"digest\":")) {
            forged += &format!("{{\"digest\":\"{digest}\"}}\n");
            continue;
        }
        forged += &change(line).unwrap_or_else(|| line.to_owned());
        forged.push('\n');
        if line.starts_with("{\"end\":") {
            digest = Some(Digest(Sha256::digest(&forged).into()));
        }
    }
    let frame = zstd::encode_all(forged.as_bytes(), 3).unwrap();
    let trailer =
        [&0x184D_2A50_u32.to_le_bytes()[..], &36_u32.to_le_bytes(), b"AGON", &Sha256::digest(&frame)];
    *record = [&frame[..], &trailer.concat()].concat();
    game.digest = digest.unwrap();
}
