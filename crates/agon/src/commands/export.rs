//! `agon export FILE DIR`: a competition's tables, games, histories and records as files.

use std::fs;

use agon_store::PhaseState;
use agon_venue::Failure;
use agon_venue::Sitting;
use agon_venue::competing::export;

use crate::cli;
use crate::competing;
use crate::output;

/// Writes them.
pub fn run(args: &cli::Export) -> Result<(), Failure> {
    let sitting = Sitting::read(&args.file)?;
    let runtime = competing::runtime()?;
    let ledger = runtime.block_on(sitting.ledger_to_read_at(&args.kept.place()))?;
    fs::create_dir_all(&args.folder)
        .map_err(|e| Failure::io("make", &args.folder, &e, "is there room, and may you write there?"))?;
    let folder = args.folder.canonicalize()?;
    let (written, revealed) = runtime.block_on(async {
        let phases = ledger.phases().await?;
        let begun = phases.iter().filter(|phase| phase.state > PhaseState::Waiting).count() as u32;
        let revealed = ledger.competition().await?.revealed.is_some();
        let written = export::all(&sitting, &*ledger, begun, revealed, &folder).await?;
        Ok::<_, Failure>((written, revealed))
    })?;
    let mut text = String::new();
    for one in written {
        let path = args.folder.join(one.path.strip_prefix(&folder).unwrap_or(&one.path));
        text += &format!("{}  {}\n", path.display(), one.is);
    }
    output::print(&text)?;
    if !revealed {
        output::note("records and seeds are left out: they are a secret until the competition is over");
    }
    Ok(())
}
