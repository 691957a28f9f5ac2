//! `agon export FILE DIR`: writes tables, games, histories and records as files. With `--archive` it writes the whole ledger as one file.

use std::fs;
use std::path::{Path, PathBuf};

use agon_bots::Diagnostic;
use agon_competition::LoadedCompetition;
use agon_report::export;
use agon_store::archive::{self, ArchiveSummary};
use agon_store::{Ledger, PhaseState};
use serde_json::{Value as Json, json};
use tokio::runtime::Runtime;

use crate::args;
use crate::competition;
use crate::output;

/// Writes the archive, the files, or both.
pub fn run(args: &args::Export) -> Result<(), Diagnostic> {
    let loaded = LoadedCompetition::read(&args.file)?;
    let runtime = competition::runtime()?;
    let ledger = runtime.block_on(loaded.ledger_to_read_at(&args.ledger.location()))?;
    let archive = match &args.archive {
        Some(path) => Some((path, runtime.block_on(archive::export(&*ledger, path))?)),
        None => None,
    };
    if let Some((path, written)) = &archive {
        if !args.json {
            output::print(&describe(path, written))?;
        }
        output::note("the archive contains the secret seed: keep it as safe as the ledger");
    }
    let files = match &args.folder {
        Some(folder) => files(&loaded, &runtime, &*ledger, folder)?,
        None => Vec::new(),
    };
    if args.json {
        return output::print_json("export", document(archive, &files));
    }
    let lines: Vec<String> = files.iter().map(|(path, is)| format!("{path}  {is}")).collect();
    output::print(&(lines.join("\n") + "\n"))
}

/// Describes an archive in two lines.
fn describe(path: &Path, written: &ArchiveSummary) -> String {
    let size = match written.bytes {
        small @ ..1_048_576 => format!("{} KiB", small.div_ceil(1 << 10)),
        large => format!("{:.1} MiB", large as f64 / f64::from(1 << 20)),
    };
    let ArchiveSummary { name, matches, digest, .. } = written;
    let path = path.display();
    format!("{path}  {name}, {matches} matches, {size}\ndigest of the matches: {}\n", digest.hex())
}

/// What was written, as JSON.
fn document(archive: Option<(&PathBuf, ArchiveSummary)>, files: &[(String, String)]) -> Json {
    let files: Vec<Json> = files.iter().map(|(path, is)| json!({"path": path, "is": is})).collect();
    match archive {
        Some((path, written)) => json!({
            "archive": path.display().to_string(),
            "name": written.name,
            "matches": written.matches,
            "digest": written.digest.hex(),
            "bytes": written.bytes,
            "files": files,
        }),
        None => json!({"files": files}),
    }
}

/// Writes the files of all started phases. Returns their paths, and what they are.
fn files(
    loaded: &LoadedCompetition,
    runtime: &Runtime,
    ledger: &dyn Ledger,
    named: &Path,
) -> Result<Vec<(String, String)>, Diagnostic> {
    fs::create_dir_all(named)
        .map_err(|e| Diagnostic::named_path("create", named, &e, "check disk space and write permission"))?;
    let folder = named.canonicalize()?;
    let (written, revealed) = runtime.block_on(async {
        let phases = ledger.phases().await?;
        let begun = phases.iter().filter(|phase| phase.state > PhaseState::Waiting).count() as u32;
        let revealed = ledger.competition().await?.revealed.is_some();
        let written = export::all(loaded, ledger, begun, revealed, &folder).await?;
        Ok::<_, Diagnostic>((written, revealed))
    })?;
    if !revealed {
        output::note("records and seeds are omitted: they are secret until the competition is finished");
    }
    let path = |one: &Path| named.join(one.strip_prefix(&folder).unwrap_or(one)).display().to_string();
    Ok(written.into_iter().map(|one| (path(&one.path), one.is)).collect())
}
