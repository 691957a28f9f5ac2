//! What bots take from match to match: `data/`, which comes back with a result, and `logs/`, which grow with each match of their own.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

use agon_engine::chronicle;
use agon_runner::data_dir;
use agon_runner::match_runner::PhaseContext;

use crate::blobs::hash;
use crate::messages::{Hash, BotDataRefs};

/// What one bot takes along.
#[derive(Default)]
struct BotDataVersion {
    /// Its `data/`, packed.
    data: Option<(Hash, Arc<[u8]>)>,
    /// Its `logs/`: what was there when the stage began, then a piece for each match of its own; with the numbers of its games.
    logs: Vec<(Hash, std::ops::Range<u32>)>,
}

/// What all bots of a phase take along.
pub struct PhaseBotData {
    /// Of which phase.
    pub phase: u32,
    bags: Vec<BotDataVersion>,
    /// Packed, and not put where workers find it yet.
    fresh: HashMap<Hash, Arc<[u8]>>,
    put: HashSet<Hash>,
}

impl PhaseBotData {
    /// As bots' folders are now.
    pub fn pack(hall: &PhaseContext<'_>) -> io::Result<Self> {
        let mut baggage =
            Self { phase: hall.phase, bags: Vec::new(), fresh: HashMap::new(), put: HashSet::new() };
        for member in hall.members {
            let mut bag = BotDataVersion::default();
            if let Some(folder) = member.data() {
                bag.data = Some(baggage.add(data_dir::pack(folder)?));
            }
            baggage.bags.push(bag);
        }
        Ok(baggage)
    }

    /// A stage begins: everybody has the logs of the stages before.
    pub fn begin_stage(&mut self, hall: &PhaseContext<'_>) -> io::Result<()> {
        for (number, member) in hall.members.iter().enumerate() {
            self.bags[number].logs.clear();
            if let Some(folder) = member.logs() {
                self.add_logs(number, folder)?;
            }
        }
        Ok(())
    }

    /// What these find when their match begins.
    pub fn of(&self, seats: &[u32]) -> Vec<BotDataRefs> {
        let mut all: Vec<BotDataRefs> = Vec::new();
        for &entrant in seats {
            let Some(bag) = self.bags.get(entrant as usize) else { continue };
            let is_empty = bag.data.is_none() && bag.logs.is_empty();
            if !is_empty && all.iter().all(|one| one.entrant != entrant) {
                let data = bag.data.as_ref().map(|(name, _)| name.clone());
                let logs = bag.logs.iter().map(|(name, _)| name.clone()).collect();
                all.push(BotDataRefs { entrant, data, logs });
            }
        }
        all
    }

    /// What of this is not where workers find it yet: from now on it is.
    pub fn take_unpublished(&mut self, luggage: &[BotDataRefs]) -> Vec<Arc<[u8]>> {
        let names = luggage.iter().flat_map(|one| one.data.iter().chain(&one.logs));
        let mut bytes = Vec::new();
        for name in names {
            if let Some(fresh) = self.fresh.remove(name) {
                self.put.insert(name.clone());
                bytes.push(fresh);
            }
        }
        bytes
    }

    /// A match is in the ledger: what its bots keep, and the logs of it that were written into their folders.
    pub fn kept(&mut self, hall: &PhaseContext<'_>, seats: &[u32], data: Vec<(u32, Vec<u8>)>) -> io::Result<()> {
        for (entrant, bytes) in data {
            let packed = self.add(bytes);
            if let Some(bag) = self.bags.get_mut(entrant as usize) {
                bag.data = Some(packed);
            }
        }
        let mut done = Vec::new();
        for &entrant in seats {
            let Some(member) = hall.members.get(entrant as usize) else { continue };
            if let Some(folder) = member.logs().filter(|_| !done.contains(&entrant)) {
                self.add_logs(entrant as usize, folder)?;
                done.push(entrant);
            }
        }
        Ok(())
    }

    /// A file that workers miss, if it is one of these.
    pub fn again(&self, hall: &PhaseContext<'_>, wanted: &str) -> io::Result<Option<Arc<[u8]>>> {
        if let Some(bytes) = self.fresh.get(wanted) {
            return Ok(Some(Arc::clone(bytes)));
        }
        for (number, bag) in self.bags.iter().enumerate() {
            if let Some((_, bytes)) = bag.data.as_ref().filter(|(name, _)| name == wanted) {
                return Ok(Some(Arc::clone(bytes)));
            }
            let games = bag.logs.iter().find(|(name, _)| name == wanted).map(|(_, games)| games.clone());
            if let (Some(games), Some(folder)) = (games, hall.members[number].logs()) {
                return Ok(Some(pack_logs(folder, &games)?.into()));
            }
        }
        Ok(None)
    }

    fn add(&mut self, bytes: Vec<u8>) -> (Hash, Arc<[u8]>) {
        let (name, bytes): (Hash, Arc<[u8]>) = (hash(&bytes), bytes.into());
        if !self.put.contains(&name) {
            self.fresh.insert(name.clone(), Arc::clone(&bytes));
        }
        (name, bytes)
    }

    /// Packs what was not packed yet.
    fn add_logs(&mut self, number: usize, folder: &Path) -> io::Result<()> {
        let from = self.bags[number].logs.last().map_or(0, |(_, games)| games.end);
        let games = from..chronicle::next_number(folder)?;
        if !games.is_empty() {
            let (name, _) = self.add(pack_logs(folder, &games)?);
            self.bags[number].logs.push((name, games));
        }
        Ok(())
    }
}

/// Packs the logs of some games; of the first ones with whatever else is there.
fn pack_logs(folder: &Path, games: &std::ops::Range<u32>) -> io::Result<Vec<u8>> {
    let number = |path: &Path| {
        let stem = path.file_stem()?.to_str()?;
        stem.strip_prefix("game-")?.parse::<u32>().ok()
    };
    data_dir::pack_some(folder, &|path| match number(path) {
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
            fs::write(folder.path().join(format!("game-{number:04}.json")), text).unwrap();
        }
        folder
    }

    fn empty() -> PhaseBotData {
        let bags = vec![BotDataVersion::default(), BotDataVersion::default()];
        PhaseBotData { phase: 0, bags, fresh: HashMap::new(), put: HashSet::new() }
    }

    #[test]
    fn logs_are_a_beginning_and_a_piece_for_each_match() {
        let (logs, mut baggage) = (folder(&[(1, "a"), (2, "b")]), empty());
        fs::write(logs.path().join("notes.txt"), "x").unwrap();
        baggage.add_logs(0, logs.path()).unwrap();
        baggage.add_logs(0, logs.path()).unwrap();
        assert_eq!(baggage.of(&[0, 1])[0].logs.len(), 1, "nothing new is no piece");
        fs::write(logs.path().join("game-0003.json"), "c").unwrap();
        baggage.add_logs(0, logs.path()).unwrap();
        let luggage = baggage.of(&[1, 0, 0]);
        assert_eq!((luggage.len(), luggage[0].entrant, luggage[0].logs.len()), (1, 0, 2));
        // Put one over the other they make the folder again.
        let there = tempfile::tempdir().unwrap();
        let mut found = Vec::new();
        for bytes in baggage.take_unpublished(&luggage) {
            data_dir::unpack(&bytes, there.path()).unwrap();
            found.extend(fs::read_dir(there.path()).unwrap().map(|one| one.unwrap().file_name()));
        }
        found.sort();
        assert_eq!(found, ["game-0001.json", "game-0002.json", "game-0003.json", "notes.txt"]);
    }

    #[test]
    fn what_was_put_is_not_put_again_unless_it_is_missed() {
        let mut baggage = empty();
        let packed = baggage.add(b"data".to_vec());
        baggage.bags[1].data = Some(packed);
        let luggage = baggage.of(&[0, 1]);
        assert_eq!(baggage.take_unpublished(&luggage).len(), 1);
        assert!(baggage.take_unpublished(&luggage).is_empty());
        baggage.bags[1].data = Some(baggage.add(b"data".to_vec()));
        assert!(baggage.take_unpublished(&baggage.of(&[1])).is_empty(), "the same again");
    }
}
