//! The store of played games: games of persons, of challenges and of practice ladders.
//!
//! The site database knows who played and how it ended. The record of a game, and what its bots printed, are files in `DATA/played/`. If
//! they take more space than [`PlayedGamesConfig`] allows, those of the oldest practice games go first, then those of the oldest challenges,
//! then those of the oldest games of persons.

pub mod film;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use agon_core::Diagnostic;
use agon_engine::film::json::BotOutputLine;
use agon_files::AtomicFile;
use agon_site_db::{
    AccountId, ChallengeId, PlayedGameId, PlayedGameQuota, PlayedGameRow, PlayedKind, PlayedSeat, SiteDb,
};
use agon_store::Timestamp;
use serde_json::Value as Json;

/// Maximum size of the record of a game. A longer one is not kept.
pub const MAX_RECORD_BYTES: usize = 16 << 20;
/// Maximum size of what the bots of a game printed, as it is stored.
pub const MAX_OUTPUT_BYTES: usize = 1 << 20;
/// The quota is checked after this many stored games.
const GAMES_PER_PRUNE: u32 = 32;
/// Extension of records.
const RECORD: &str = "agon";
/// Extension of what bots printed.
const OUTPUT: &str = "output";

/// How many played games are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlayedGamesConfig {
    /// Maximum bytes of all records.
    pub disk: u64,
    /// Maximum number of practice games.
    pub practice_games: u64,
    /// Maximum number of games of persons and of challenges.
    pub other_games: u64,
}

impl Default for PlayedGamesConfig {
    fn default() -> Self {
        Self { disk: 2 << 30, practice_games: 50_000, other_games: 200_000 }
    }
}

/// A game to store.
#[derive(Clone, Debug)]
pub struct NewPlayedGame {
    /// Id of the game.
    pub game: String,
    /// Why it was played.
    pub kind: PlayedKind,
    /// Players in seat order.
    pub seats: Vec<PlayedSeat>,
    /// Settings.
    pub settings: Json,
    /// Seed of the game.
    pub seed: u64,
    /// Outcome, as in the record.
    pub outcome: Json,
    /// The compressed record; empty if it is not kept.
    pub record: Vec<u8>,
    /// Start of the game.
    pub started: Timestamp,
    /// End of the game.
    pub ended: Timestamp,
    /// Account that had it played.
    pub owner: Option<AccountId>,
}

/// What a game of a challenge or of a ladder has beside a [`NewPlayedGame`].
#[derive(Clone, Debug, Default)]
pub struct PlayedContext {
    /// Id of the competition whose settings it has.
    pub competition: Option<String>,
    /// The challenge.
    pub challenge: Option<ChallengeId>,
    /// Number of the game within its challenge, from 0.
    pub number: u32,
    /// What the bots printed. Each author can read the output of the author's own bots.
    pub output: Vec<BotOutputLine>,
}

/// The store of played games.
#[derive(Debug)]
pub struct PlayedGames {
    site_db: SiteDb,
    folder: PathBuf,
    quota: PlayedGameQuota,
    stored: AtomicU32,
}

impl PlayedGames {
    /// The store in this data folder.
    pub fn new(site_db: SiteDb, data: &Path, config: PlayedGamesConfig) -> Self {
        let PlayedGamesConfig { disk, practice_games, other_games } = config;
        let quota = PlayedGameQuota { bytes: disk, practice_games, other_games };
        Self { site_db, folder: data.join("played"), quota, stored: AtomicU32::new(0) }
    }

    /// Stores a game of a person.
    pub async fn store(&self, new: NewPlayedGame) -> Result<PlayedGameId, Diagnostic> {
        self.store_with(new, PlayedContext::default()).await
    }

    /// Stores a game. The files are written first, so that a game in the site database has its files.
    pub async fn store_with(
        &self,
        new: NewPlayedGame,
        context: PlayedContext,
    ) -> Result<PlayedGameId, Diagnostic> {
        let id = PlayedGameId::random()?;
        let record = if new.record.len() > MAX_RECORD_BYTES { Vec::new() } else { new.record };
        let output = encode_output(&context.output);
        let bytes = (record.len() + output.len()) as u64;
        let files = if record.is_empty() {
            Vec::new()
        } else {
            vec![(self.path(&id, RECORD), record), (self.path(&id, OUTPUT), output)]
        };
        let has_files = !files.is_empty();
        tokio::task::spawn_blocking(move || write_files(&files)).await.map_err(Diagnostic::internal)??;
        let row = PlayedGameRow {
            id: id.clone(),
            kind: new.kind,
            game: new.game,
            competition: context.competition,
            challenge: context.challenge,
            number: context.number,
            owner: new.owner,
            settings: new.settings.to_string(),
            seed: new.seed,
            outcome: new.outcome.to_string(),
            bytes: if has_files { bytes } else { 0 },
            started: new.started,
            ended: new.ended,
            seats: new.seats,
        };
        if let Err(error) = self.site_db.add_played_game(&row).await {
            self.delete_files(&[id]).await;
            return Err(error.into());
        }
        if self.stored.fetch_add(1, Ordering::Relaxed) % GAMES_PER_PRUNE == 0 {
            self.prune().await;
        }
        Ok(id)
    }

    /// The compressed record of a game; `None` if it was removed.
    pub async fn record(&self, id: &PlayedGameId) -> io::Result<Option<Vec<u8>>> {
        self.read(id, RECORD).await
    }

    /// What the bots of a game printed.
    pub async fn output(&self, id: &PlayedGameId) -> io::Result<Vec<BotOutputLine>> {
        Ok(self.read(id, OUTPUT).await?.map_or_else(Vec::new, |bytes| decode_output(&bytes)))
    }

    /// Deletes files without a game in the site database. They remain if the server is killed while it stores or removes a game.
    pub async fn sweep(&self) -> Result<(), Diagnostic> {
        let known = self.site_db.played_games_with_files().await?;
        let known: BTreeSet<String> = known.iter().map(ToString::to_string).collect();
        let folder = self.folder.clone();
        let swept = tokio::task::spawn_blocking(move || sweep_folder(&folder, &known)).await;
        let swept = swept.map_err(Diagnostic::internal)?;
        if swept > 0 {
            tracing::info!(files = swept, "removed files of unknown played games");
        }
        self.prune().await;
        Ok(())
    }

    /// Removes games beyond the quota. An error is logged; the next call tries again.
    async fn prune(&self) {
        loop {
            match self.site_db.prune_played_games(self.quota).await {
                Ok(gone) if gone.is_empty() => return,
                Ok(gone) => self.delete_files(&gone).await,
                Err(error) => {
                    tracing::error!(%error, "played games beyond the quota cannot be removed");
                    return;
                }
            }
        }
    }

    async fn delete_files(&self, games: &[PlayedGameId]) {
        let kinds = [RECORD, OUTPUT];
        let paths: Vec<PathBuf> = games.iter().flat_map(|id| kinds.map(|kind| self.path(id, kind))).collect();
        // What cannot be deleted is found by the next sweep.
        let _ = tokio::task::spawn_blocking(move || {
            for path in paths {
                let _ = std::fs::remove_file(path);
            }
        })
        .await;
    }

    async fn read(&self, id: &PlayedGameId, kind: &str) -> io::Result<Option<Vec<u8>>> {
        match tokio::fs::read(self.path(id, kind)).await {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Path of a file of a game. The folders keep the number of files per folder small.
    fn path(&self, id: &PlayedGameId, kind: &str) -> PathBuf {
        let name = id.as_str();
        self.folder.join(name.get(..2).unwrap_or(name)).join(format!("{name}.{kind}"))
    }
}

fn write_files(files: &[(PathBuf, Vec<u8>)]) -> Result<(), Diagnostic> {
    for (path, content) in files.iter().filter(|(_, content)| !content.is_empty()) {
        let folder = path.parent().unwrap_or(path);
        let hint = "check disk space and write permission of the data folder";
        std::fs::create_dir_all(folder)
            .and_then(|()| AtomicFile::options().write(path, content))
            .map_err(|error| Diagnostic::io("write", path, &error, hint))?;
    }
    Ok(())
}

/// Deletes all files whose game is not known. Returns their number.
fn sweep_folder(folder: &Path, known: &BTreeSet<String>) -> usize {
    let mut swept = 0;
    let entries = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten();
    for inner in entries(folder) {
        for file in entries(&inner.path()) {
            let path = file.path();
            let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
            if !known.contains(name) && std::fs::remove_file(&path).is_ok() {
                swept += 1;
            }
        }
    }
    swept
}

/// Output as it is stored: whole lines up to the maximum.
fn encode_output(lines: &[BotOutputLine]) -> Vec<u8> {
    let mut total = 0;
    let fitting = lines.iter().take_while(|line| {
        total += line.text.len() + 32;
        total <= MAX_OUTPUT_BYTES
    });
    let fitting: Vec<&BotOutputLine> = fitting.collect();
    if fitting.is_empty() { Vec::new() } else { serde_json::to_vec(&fitting).unwrap_or_default() }
}

fn decode_output(bytes: &[u8]) -> Vec<BotOutputLine> {
    let lines: Json = serde_json::from_slice(bytes).unwrap_or_default();
    let line = |line: &Json| {
        let turn = u32::try_from(line["turn"].as_u64()?).ok()?;
        let seat = agon_core::Seat(u8::try_from(line["seat"].as_u64()?).ok()?);
        Some(BotOutputLine { turn, seat, text: line["text"].as_str()?.to_owned() })
    };
    lines.as_array().into_iter().flatten().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(seat: u8, text: &str) -> BotOutputLine {
        BotOutputLine { turn: 3, seat: agon_core::Seat(seat), text: text.to_owned() }
    }

    #[test]
    fn stored_output_is_read_again_and_limited() {
        let lines = [line(0, "one\n"), line(1, "two")];
        let read = decode_output(&encode_output(&lines));
        assert_eq!(read.len(), 2);
        assert_eq!((read[1].turn, read[1].seat.0, &*read[1].text), (3, 1, "two"));
        assert!(encode_output(&[]).is_empty() && decode_output(b"").is_empty());
        let long = "x".repeat(MAX_OUTPUT_BYTES / 2);
        let kept = decode_output(&encode_output(&[line(0, &long), line(1, &long), line(0, "after")]));
        assert_eq!(kept.len(), 1, "the second line does not fit");
    }

    #[test]
    fn sweep_removes_only_files_of_unknown_games() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("ab");
        std::fs::create_dir_all(&inner).unwrap();
        for name in ["ab00.agon", "ab00.output", "ab11.agon"] {
            std::fs::write(inner.join(name), "x").unwrap();
        }
        let known = BTreeSet::from(["ab00".to_owned()]);
        assert_eq!(sweep_folder(folder.path(), &known), 1);
        assert!(inner.join("ab00.agon").exists() && !inner.join("ab11.agon").exists());
        assert_eq!(sweep_folder(&folder.path().join("missing"), &known), 0);
    }
}
