//! `agon export FILE DIR`: a competition's tables, games, histories and records as files; with `--archive` all of its ledger as one.

use std::fs;
use std::path::Path;

use agon_bots::Failure;
use agon_competition::LoadedCompetition;
use agon_report::export;
use agon_store::{Ledger, PhaseState, archive};
use tokio::runtime::Runtime;

use crate::cli;
use crate::competition;
use crate::output;

/// Writes them.
pub fn run(args: &cli::Export) -> Result<(), Failure> {
    let sitting = LoadedCompetition::read(&args.file)?;
    let runtime = competition::runtime()?;
    let ledger = runtime.block_on(sitting.ledger_to_read_at(&args.kept.place()))?;
    if let Some(path) = &args.archive {
        let moved = runtime.block_on(archive::export(&*ledger, path))?;
        let size = match moved.bytes {
            small @ ..1_048_576 => format!("{} KiB", small.div_ceil(1 << 10)),
            large => format!("{:.1} MiB", large as f64 / f64::from(1 << 20)),
        };
        let what = format!("{}, {} matches, {size}", moved.name, moved.matches);
        output::print(&format!("{}  {what}\n", path.display()))?;
        output::note("the secret seed is in it: keep it as you keep the ledger");
    }
    match &args.folder {
        Some(folder) => files(&sitting, &runtime, &*ledger, folder),
        None => Ok(()),
    }
}

fn files(
    sitting: &LoadedCompetition,
    runtime: &Runtime,
    ledger: &dyn Ledger,
    named: &Path,
) -> Result<(), Failure> {
    fs::create_dir_all(named)
        .map_err(|e| Failure::io("make", named, &e, "is there room, and may you write there?"))?;
    let folder = named.canonicalize()?;
    let (written, revealed) = runtime.block_on(async {
        let phases = ledger.phases().await?;
        let begun = phases.iter().filter(|phase| phase.state > PhaseState::Waiting).count() as u32;
        let revealed = ledger.competition().await?.revealed.is_some();
        let written = export::all(sitting, ledger, begun, revealed, &folder).await?;
        Ok::<_, Failure>((written, revealed))
    })?;
    let mut text = String::new();
    for one in written {
        let path = named.join(one.path.strip_prefix(&folder).unwrap_or(&one.path));
        text += &format!("{}  {}\n", path.display(), one.is);
    }
    output::print(&text)?;
    if !revealed {
        output::note("records and seeds are left out: they are a secret until the competition is over");
    }
    Ok(())
}
