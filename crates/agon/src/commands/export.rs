//! `agon export FILE DIR`: writes tables, games, histories and records as files. With `--archive` it writes the whole ledger as one file.

use std::fs;
use std::path::Path;

use agon_bots::Diagnostic;
use agon_competition::LoadedCompetition;
use agon_report::export;
use agon_store::{Ledger, PhaseState, archive};
use tokio::runtime::Runtime;

use crate::args;
use crate::competition;
use crate::output;

/// Writes the files.
pub fn run(args: &args::Export) -> Result<(), Diagnostic> {
    let loaded = LoadedCompetition::read(&args.file)?;
    let runtime = competition::runtime()?;
    let ledger = runtime.block_on(loaded.ledger_to_read_at(&args.ledger.location()))?;
    if let Some(path) = &args.archive {
        let moved = runtime.block_on(archive::export(&*ledger, path))?;
        let size = match moved.bytes {
            small @ ..1_048_576 => format!("{} KiB", small.div_ceil(1 << 10)),
            large => format!("{:.1} MiB", large as f64 / f64::from(1 << 20)),
        };
        let what = format!("{}, {} matches, {size}", moved.name, moved.matches);
        output::print(&format!("{}  {what}\n", path.display()))?;
        output::note("the archive contains the secret seed: keep it as safe as the ledger");
    }
    match &args.folder {
        Some(folder) => files(&loaded, &runtime, &*ledger, folder),
        None => Ok(()),
    }
}

fn files(
    loaded: &LoadedCompetition,
    runtime: &Runtime,
    ledger: &dyn Ledger,
    named: &Path,
) -> Result<(), Diagnostic> {
    fs::create_dir_all(named)
        .map_err(|e| Diagnostic::io("create", named, &e, "check disk space and write permission"))?;
    let folder = named.canonicalize()?;
    let (written, revealed) = runtime.block_on(async {
        let phases = ledger.phases().await?;
        let begun = phases.iter().filter(|phase| phase.state > PhaseState::Waiting).count() as u32;
        let revealed = ledger.competition().await?.revealed.is_some();
        let written = export::all(loaded, ledger, begun, revealed, &folder).await?;
        Ok::<_, Diagnostic>((written, revealed))
    })?;
    let mut text = String::new();
    for one in written {
        let path = named.join(one.path.strip_prefix(&folder).unwrap_or(&one.path));
        text += &format!("{}  {}\n", path.display(), one.is);
    }
    output::print(&text)?;
    if !revealed {
        output::note("records and seeds are omitted: they are secret until the competition is finished");
    }
    Ok(())
}
