//! The history of finished phases in the format of the game's document. Bots of later phases may read it.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use agon_bots::error::Diagnostic;
use agon_core::record::read;
use agon_league::MatchKey;
use agon_store::{Ledger, MatchFilter};
use futures_util::StreamExt as _;

use crate::LoadedCompetition;

/// Writes the history of some phases in the format of the game's document, all in one: `{"matches": {"match_1": ...}}`. Returns the
/// number of matches, or `None` for a game without a history format.
pub async fn write_history(
    loaded: &LoadedCompetition,
    ledger: &dyn Ledger,
    phases: std::ops::Range<u32>,
    path: &Path,
) -> Result<Option<u64>, Diagnostic> {
    let mut out = BufWriter::new(create_file(path)?);
    out.write_all(b"{\"matches\": {")?;
    let mut count = 0;
    for phase in phases {
        let mut records = ledger.records(phase, MatchFilter::default());
        while let Some(one) = records.next().await {
            let one = one?;
            let (record, _) = read(&one.bytes, 1).map_err(|e| unreadable_record(one.key, &e))?;
            let text = loaded
                .table
                .published_json(record, &loaded.assets)
                .map_err(|e| unreadable_record(one.key, &e))?;
            let Some(text) = text else {
                drop(out);
                fs::remove_file(path)?;
                return Ok(None);
            };
            count += 1;
            write!(out, "{}\n\"match_{count}\": {text}", if count > 1 { "," } else { "" })?;
        }
    }
    out.write_all(b"\n}}\n")?;
    out.flush()?;
    Ok(Some(count))
}

/// Creates a file. The error names it.
pub fn create_file(path: &Path) -> Result<File, Diagnostic> {
    File::create(path).map_err(|e| Diagnostic::io("write", path, &e, "check disk space and write permission"))
}

/// A record in the ledger that cannot be read.
pub fn unreadable_record(key: MatchKey, error: &dyn std::fmt::Display) -> Diagnostic {
    let hint = "the ledger is damaged; resume from a backup";
    Diagnostic::internal(error).about(format!("the record of match {key}")).hint(hint)
}
