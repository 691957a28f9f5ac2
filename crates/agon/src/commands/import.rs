//! `agon import ARCHIVE`: creates a ledger from an archive of `agon export --archive`.

use agon_bots::Diagnostic;
use agon_competition::LedgerLocation;
use agon_store::archive;
use serde_json::json;

use crate::args;
use crate::competition;
use crate::output;

/// Creates the ledger.
pub fn run(args: &args::Import) -> Result<(), Diagnostic> {
    let runtime = competition::runtime()?;
    let stem = args.archive.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let (moved, ledger, next) = match args.ledger.location() {
        LedgerLocation::File => {
            let ledger = args.to.clone().unwrap_or_else(|| args.archive.with_extension("ledger"));
            let moved = runtime.block_on(archive::import_to_file(&args.archive, &ledger))?;
            let file = agon_core::text_format::shell_quote_path(
                &ledger.with_extension("toml").display().to_string(),
            );
            (moved, ledger.display().to_string(), format!("resume with: agon run {file}"))
        }
        LedgerLocation::Database(url) => {
            let name = args.name.clone().unwrap_or(stem);
            let moved = runtime.block_on(archive::import_to_database(&args.archive, &url, &name))?;
            let next = format!("resume with: agon run {name}.toml --database URL");
            (moved, name, next)
        }
    };
    if args.json {
        let what = json!({"name": moved.name, "ledger": ledger, "matches": moved.matches, "digest": moved.digest.hex()});
        return output::print_json("import", what);
    }
    output::print(&format!(
        "{ledger}  {}, {} matches\ndigest of the matches: {}\n",
        moved.name,
        moved.matches,
        moved.digest.hex()
    ))?;
    output::note(&next);
    Ok(())
}
