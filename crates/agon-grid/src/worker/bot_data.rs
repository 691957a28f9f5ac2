//! What a bot finds before a match where it keeps something from match to match: its `data/`, and `logs/` to read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use agon_runner::{LoadedEntrant, data_dir};

use super::blob_fetcher::JobFailure;
use crate::blobs::hash;
use crate::messages::{Hash, BotDataRefs};

/// How a bot's folders are just now.
#[derive(Debug, Default)]
pub struct BotDataState {
    /// `data/` as the bot brought it, packed.
    first: Vec<u8>,
    /// What is in `data/`, if that is known.
    data: Option<Hash>,
    /// What `logs/` was made of, in order.
    logs: Vec<Hash>,
    /// The files in it that came so.
    names: BTreeSet<PathBuf>,
}

impl BotDataState {
    /// Of a bot that was just seated.
    pub fn of(member: &LoadedEntrant) -> io::Result<Self> {
        let Some(folder) = member.data() else { return Ok(Self::default()) };
        let first = data_dir::pack(folder)?;
        Ok(Self { data: Some(hash(&first)), first, ..Self::default() })
    }

    /// Puts into a bot's folders what it is to find. What is there already stays.
    pub fn put(
        &mut self,
        member: &LoadedEntrant,
        luggage: Option<&BotDataRefs>,
        fetch: &dyn Fn(&str) -> Result<Vec<u8>, JobFailure>,
    ) -> Result<(), JobFailure> {
        if let Some(folder) = member.data() {
            let wanted = luggage.and_then(|one| one.data.clone()).unwrap_or_else(|| hash(&self.first));
            if self.data.as_ref() != Some(&wanted) {
                let given = if wanted == hash(&self.first) { self.first.clone() } else { fetch(&wanted)? };
                self.data = None;
                data_dir::unpack(&given, folder)?;
                self.data = Some(wanted);
            }
        }
        if let Some(folder) = member.logs() {
            self.put_logs(folder, luggage.map_or(&[][..], |one| &one.logs), fetch)?;
        }
        Ok(())
    }

    /// A match is about to be played: what the bot makes of its folder is not known before it is over.
    pub fn mark_unknown(&mut self) {
        self.data = None;
    }

    /// What the bot has kept, by its hash.
    pub fn kept(&mut self, data: Hash) {
        self.data = Some(data);
    }

    fn put_logs(
        &mut self,
        folder: &Path,
        wanted: &[Hash],
        fetch: &dyn Fn(&str) -> Result<Vec<u8>, JobFailure>,
    ) -> Result<(), JobFailure> {
        if !wanted.starts_with(&self.logs) {
            self.logs.clear();
            self.names.clear();
        }
        // The logs of the last match here may be of one that does not count; those that do come with what is wanted.
        clear(folder, &self.names)?;
        for one in &wanted[self.logs.len()..] {
            let packed = fetch(one)?;
            self.names.extend(data_dir::unpack_over(&packed, folder)?);
            self.logs.push(one.clone());
        }
        Ok(())
    }
}

/// Removes plain files that are not named. Links are what the bot brought.
fn clear(folder: &Path, names: &BTreeSet<PathBuf>) -> io::Result<()> {
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
    fn logs_are_what_is_wanted_and_nothing_else() {
        let pieces = [
            packed(&[("game-0001.json", "1")]),
            packed(&[("game-0002.json", "2")]),
            packed(&[("game-0002.json", "other")]),
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
        std::os::unix::fs::symlink(&own, logs.join("game-0001.json")).unwrap();
        std::os::unix::fs::symlink(&own, logs.join("notes")).unwrap();
        let text = |name: &str| fs::read_to_string(logs.join(name)).ok();
        let mut bags = BotDataState::default();
        bags.put_logs(&logs, &names[..1], &fetch).unwrap();
        assert_eq!(
            (text("game-0001.json"), text("notes")),
            (Some("1".to_owned()), Some("brought".to_owned()))
        );
        assert_eq!(fs::read_to_string(&own).unwrap(), "brought", "never through a link");
        // The game that was just played here, and does not count.
        fs::write(logs.join("game-0002.json"), "mine").unwrap();
        bags.put_logs(&logs, &names[..1], &fetch).unwrap();
        assert_eq!((text("game-0002.json"), fetched.get()), (None, 1));
        bags.put_logs(&logs, &names[..2], &fetch).unwrap();
        assert_eq!((text("game-0002.json").unwrap(), fetched.get()), ("2".to_owned(), 2));
        bags.put_logs(&logs, &[names[0].clone(), names[2].clone()], &fetch).unwrap();
        assert_eq!(
            (text("game-0001.json").unwrap(), text("game-0002.json").unwrap()),
            ("1".to_owned(), "other".to_owned())
        );
        bags.put_logs(&logs, &[], &fetch).unwrap();
        assert_eq!(text("game-0001.json"), None);
    }
}
