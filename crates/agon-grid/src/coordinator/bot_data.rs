//! Data that bots keep from match to match: `data/` comes back with each result, `logs/` grows with each match of the bot.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

use agon_engine::logs_dir;
use agon_runner::data_dir;
use agon_runner::phase_context::PhaseContext;

use crate::blobs::hash;
use crate::messages::{BotDataRefs, Hash};

/// Current data of one bot.
#[derive(Default)]
struct BotDataVersion {
    /// Packed `data/`.
    data: Option<(Hash, Arc<[u8]>)>,
    /// Parts of `logs/`: its content at the start of the stage, then one part per match of the bot. Each with the range of its game
    /// numbers.
    logs: Vec<(Hash, std::ops::Range<u32>)>,
}

/// Data of all bots in a phase.
pub struct PhaseBotData {
    /// Phase number.
    pub phase: u32,
    bots: Vec<BotDataVersion>,
    /// Packed files that are not uploaded yet.
    unpublished: HashMap<Hash, Arc<[u8]>>,
    published: HashSet<Hash>,
}

impl PhaseBotData {
    /// Packs the current data folders of all bots.
    pub fn pack(phase: &PhaseContext<'_>) -> io::Result<Self> {
        let mut bot_data = Self {
            phase: phase.phase,
            bots: Vec::new(),
            unpublished: HashMap::new(),
            published: HashSet::new(),
        };
        for entrant in phase.entrants {
            let mut bot = BotDataVersion::default();
            if let Some(folder) = entrant.data_dir() {
                bot.data = Some(bot_data.add(data_dir::pack(folder)?));
            }
            bot_data.bots.push(bot);
        }
        Ok(bot_data)
    }

    /// Starts a stage: every bot gets the logs of the stages before.
    pub fn begin_stage(&mut self, phase: &PhaseContext<'_>) -> io::Result<()> {
        for (number, entrant) in phase.entrants.iter().enumerate() {
            self.bots[number].logs.clear();
            if let Some(folder) = entrant.logs_dir() {
                self.add_logs(number, folder)?;
            }
        }
        Ok(())
    }

    /// References to the data of the bots at these seats.
    pub fn refs_for(&self, seats: &[u32]) -> Vec<BotDataRefs> {
        let mut all: Vec<BotDataRefs> = Vec::new();
        for &entrant in seats {
            let Some(bot) = self.bots.get(entrant as usize) else { continue };
            let is_empty = bot.data.is_none() && bot.logs.is_empty();
            if !is_empty && all.iter().all(|one| one.entrant != entrant) {
                let data = bot.data.as_ref().map(|(name, _)| name.clone());
                let logs = bot.logs.iter().map(|(name, _)| name.clone()).collect();
                all.push(BotDataRefs { entrant, data, logs });
            }
        }
        all
    }

    /// Takes those of the referenced files that are not uploaded yet. They count as uploaded from now on.
    pub fn take_unpublished(&mut self, refs: &[BotDataRefs]) -> Vec<Arc<[u8]>> {
        let names = refs.iter().flat_map(|one| one.data.iter().chain(&one.logs));
        let mut bytes = Vec::new();
        for name in names {
            if let Some(fresh) = self.unpublished.remove(name) {
                self.published.insert(name.clone());
                bytes.push(fresh);
            }
        }
        bytes
    }

    /// Updates the data after a match is in the ledger: the returned data folders, and the logs in the bots' folders.
    pub fn match_stored(
        &mut self,
        phase: &PhaseContext<'_>,
        seats: &[u32],
        data: Vec<(u32, Vec<u8>)>,
    ) -> io::Result<()> {
        for (entrant, bytes) in data {
            let packed = self.add(bytes);
            if let Some(bot) = self.bots.get_mut(entrant as usize) {
                bot.data = Some(packed);
            }
        }
        let mut done = Vec::new();
        for &entrant in seats {
            let Some(loaded) = phase.entrants.get(entrant as usize) else { continue };
            if let Some(folder) = loaded.logs_dir().filter(|_| !done.contains(&entrant)) {
                self.add_logs(entrant as usize, folder)?;
                done.push(entrant);
            }
        }
        Ok(())
    }

    /// Finds a file by hash, for a worker that misses it.
    pub fn find(&self, phase: &PhaseContext<'_>, hash: &str) -> io::Result<Option<Arc<[u8]>>> {
        if let Some(bytes) = self.unpublished.get(hash) {
            return Ok(Some(Arc::clone(bytes)));
        }
        for (number, bot) in self.bots.iter().enumerate() {
            if let Some((_, bytes)) = bot.data.as_ref().filter(|(name, _)| name == hash) {
                return Ok(Some(Arc::clone(bytes)));
            }
            let games = bot.logs.iter().find(|(name, _)| name == hash).map(|(_, games)| games.clone());
            if let (Some(games), Some(folder)) = (games, phase.entrants[number].logs_dir()) {
                return Ok(Some(pack_logs(folder, &games)?.into()));
            }
        }
        Ok(None)
    }

    fn add(&mut self, bytes: Vec<u8>) -> (Hash, Arc<[u8]>) {
        let (name, bytes): (Hash, Arc<[u8]>) = (hash(&bytes), bytes.into());
        if !self.published.contains(&name) {
            self.unpublished.insert(name.clone(), Arc::clone(&bytes));
        }
        (name, bytes)
    }

    /// Packs the logs that are not packed yet.
    fn add_logs(&mut self, number: usize, folder: &Path) -> io::Result<()> {
        let from = self.bots[number].logs.last().map_or(0, |(_, games)| games.end);
        let games = from..logs_dir::next_number(folder)?;
        if !games.is_empty() {
            let (name, _) = self.add(pack_logs(folder, &games)?);
            self.bots[number].logs.push((name, games));
        }
        Ok(())
    }
}

/// Packs the logs of some games. The part that starts at 0 also holds all other files.
fn pack_logs(folder: &Path, games: &std::ops::Range<u32>) -> io::Result<Vec<u8>> {
    data_dir::pack_filtered(folder, &|path| match logs_dir::number_of(path) {
        Some(number) => games.contains(&number),
        None => games.start == 0,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn folder(games: &[(u32, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (number, text) in games {
            fs::write(folder.path().join(format!("log_{number}.json")), text).unwrap();
        }
        folder
    }

    fn empty() -> PhaseBotData {
        let bots = vec![BotDataVersion::default(), BotDataVersion::default()];
        PhaseBotData { phase: 0, bots, unpublished: HashMap::new(), published: HashSet::new() }
    }

    #[test]
    fn logs_are_packed_once_per_match() {
        let (logs, mut bot_data) = (folder(&[(1, "a"), (2, "b")]), empty());
        fs::write(logs.path().join("notes.txt"), "x").unwrap();
        bot_data.add_logs(0, logs.path()).unwrap();
        bot_data.add_logs(0, logs.path()).unwrap();
        assert_eq!(bot_data.refs_for(&[0, 1])[0].logs.len(), 1, "no part without new logs");
        fs::write(logs.path().join("log_3.json"), "c").unwrap();
        bot_data.add_logs(0, logs.path()).unwrap();
        let refs = bot_data.refs_for(&[1, 0, 0]);
        assert_eq!((refs.len(), refs[0].entrant, refs[0].logs.len()), (1, 0, 2));
        // Unpacked over each other, the parts give the folder.
        let there = tempfile::tempdir().unwrap();
        let mut found = Vec::new();
        for bytes in bot_data.take_unpublished(&refs) {
            data_dir::unpack(&bytes, there.path()).unwrap();
            found.extend(fs::read_dir(there.path()).unwrap().map(|one| one.unwrap().file_name()));
        }
        found.sort();
        assert_eq!(found, ["log_1.json", "log_2.json", "log_3.json", "notes.txt"]);
    }

    #[test]
    fn take_unpublished_returns_each_file_once() {
        let mut bot_data = empty();
        let packed = bot_data.add(b"data".to_vec());
        bot_data.bots[1].data = Some(packed);
        let refs = bot_data.refs_for(&[0, 1]);
        assert_eq!(bot_data.take_unpublished(&refs).len(), 1);
        assert!(bot_data.take_unpublished(&refs).is_empty());
        bot_data.bots[1].data = Some(bot_data.add(b"data".to_vec()));
        assert!(bot_data.take_unpublished(&bot_data.refs_for(&[1])).is_empty(), "unchanged data");
    }
}
