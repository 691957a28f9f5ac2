//! Prepares `data/` and `logs/` of bots that keep data from match to match.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use agon_runner::{LoadedEntrant, data_dir};

use super::blob_fetcher::JobFailure;
use crate::blobs::hash;
use crate::messages::{BotDataRefs, Hash};

/// Current content of a bot's data folders.
#[derive(Debug, Default)]
pub struct BotDataState {
    /// `data/` from the bot's files, packed.
    initial_data: Vec<u8>,
    /// Hash of the current `data/`, if known.
    current_data: Option<Hash>,
    /// Hashes of the parts unpacked into `logs/`, in order.
    logs: Vec<Hash>,
    /// Files in `logs/` from these parts.
    log_files: BTreeSet<PathBuf>,
}

impl BotDataState {
    /// State of a bot that was just loaded.
    pub fn new(loaded: &LoadedEntrant) -> io::Result<Self> {
        let Some(folder) = loaded.data_dir() else { return Ok(Self::default()) };
        let initial_data = data_dir::pack(folder)?;
        Ok(Self { current_data: Some(hash(&initial_data)), initial_data, ..Self::default() })
    }

    /// Prepares the folders for a match. Only unpacks parts that are not there yet.
    pub fn prepare(
        &mut self,
        loaded: &LoadedEntrant,
        refs: Option<&BotDataRefs>,
        fetch: &dyn Fn(&str) -> Result<Vec<u8>, JobFailure>,
    ) -> Result<(), JobFailure> {
        if let Some(folder) = loaded.data_dir() {
            let wanted = refs.and_then(|one| one.data.clone()).unwrap_or_else(|| hash(&self.initial_data));
            if self.current_data.as_ref() != Some(&wanted) {
                let packed = if wanted == hash(&self.initial_data) {
                    self.initial_data.clone()
                } else {
                    fetch(&wanted)?
                };
                self.current_data = None;
                data_dir::unpack(&packed, folder)?;
                self.current_data = Some(wanted);
            }
        }
        if let Some(folder) = loaded.logs_dir() {
            self.prepare_logs(folder, refs.map_or(&[][..], |one| &one.logs), fetch)?;
        }
        Ok(())
    }

    /// Call before a match: the bot may change its folder.
    pub fn mark_unknown(&mut self) {
        self.current_data = None;
    }

    /// Sets the hash of `data/` after a match.
    pub fn set_current(&mut self, data: Hash) {
        self.current_data = Some(data);
    }

    fn prepare_logs(
        &mut self,
        folder: &Path,
        wanted: &[Hash],
        fetch: &dyn Fn(&str) -> Result<Vec<u8>, JobFailure>,
    ) -> Result<(), JobFailure> {
        if !wanted.starts_with(&self.logs) {
            self.logs.clear();
            self.log_files.clear();
        }
        // Logs of the last match played here may not count. Those that count are in `wanted`.
        remove_other_files(folder, &self.log_files)?;
        for one in &wanted[self.logs.len()..] {
            let packed = fetch(one)?;
            self.log_files.extend(data_dir::unpack_over(&packed, folder)?);
            self.logs.push(one.clone());
        }
        Ok(())
    }
}

/// Removes regular files that are not in `names`. Links belong to the bot's own files.
fn remove_other_files(folder: &Path, names: &BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() && !names.contains(Path::new(&entry.file_name())) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(files: &[(&str, &str)]) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        data_dir::pack(folder.path()).unwrap()
    }

    #[test]
    fn prepare_logs_leaves_exactly_the_wanted_files() {
        let pieces = [
            packed(&[("log_1.json", "1")]),
            packed(&[("log_2.json", "2")]),
            packed(&[("log_2.json", "other")]),
        ];
        let names: Vec<Hash> = pieces.iter().map(|piece| hash(piece)).collect();
        let fetched = std::cell::Cell::new(0);
        let fetch = |wanted: &str| {
            fetched.set(fetched.get() + 1);
            Ok(pieces.iter().find(|piece| hash(piece) == wanted).unwrap().clone())
        };
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("own");
        fs::write(&own, "brought").unwrap();
        let logs = folder.path().join("logs");
        fs::create_dir(&logs).unwrap();
        std::os::unix::fs::symlink(&own, logs.join("log_1.json")).unwrap();
        std::os::unix::fs::symlink(&own, logs.join("notes")).unwrap();
        let text = |name: &str| fs::read_to_string(logs.join(name)).ok();
        let mut state = BotDataState::default();
        state.prepare_logs(&logs, &names[..1], &fetch).unwrap();
        assert_eq!((text("log_1.json"), text("notes")), (Some("1".to_owned()), Some("brought".to_owned())));
        assert_eq!(fs::read_to_string(&own).unwrap(), "brought", "links are not followed");
        // A game played here that does not count.
        fs::write(logs.join("log_2.json"), "mine").unwrap();
        state.prepare_logs(&logs, &names[..1], &fetch).unwrap();
        assert_eq!((text("log_2.json"), fetched.get()), (None, 1));
        state.prepare_logs(&logs, &names[..2], &fetch).unwrap();
        assert_eq!((text("log_2.json").unwrap(), fetched.get()), ("2".to_owned(), 2));
        state.prepare_logs(&logs, &[names[0].clone(), names[2].clone()], &fetch).unwrap();
        assert_eq!(
            (text("log_1.json").unwrap(), text("log_2.json").unwrap()),
            ("1".to_owned(), "other".to_owned())
        );
        state.prepare_logs(&logs, &[], &fetch).unwrap();
        assert_eq!(text("log_1.json"), None);
    }
}
