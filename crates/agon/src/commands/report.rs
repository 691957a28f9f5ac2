//! `agon report FILE DIR`: writes a competition as static pages that open from disk.

use agon_bots::Diagnostic;
use agon_competition::LoadedCompetition;
use agon_report::GameSelection;
use agon_report::write::write_report_from;
use serde_json::json;

use crate::{args, competition, output};

/// Default for `--games`: maximum number of games of each phase with a page.
const DEFAULT_GAMES: usize = 12;

/// Writes the pages.
pub fn run(args: &args::Report) -> Result<(), Diagnostic> {
    let wanted = match args.games.as_deref() {
        None => GameSelection::Some(DEFAULT_GAMES),
        Some("all") => GameSelection::All,
        Some(number) => GameSelection::Some(number.parse().map_err(|_| {
            Diagnostic::wrong_use(
                format!("--games: {number:?} is not a number"),
                "give the number of games of each phase, or `all`",
            )
        })?),
    };
    let loaded = LoadedCompetition::read(&args.file)?;
    let written = competition::runtime()?.block_on(async {
        let ledger = loaded.ledger_to_read_at(&args.ledger.location()).await?;
        write_report_from(&loaded, &*ledger, &args.folder, wanted, &[]).await
    })?;
    if args.json {
        return output::print_json(
            "report",
            json!({"folder": args.folder, "summary": written.summary, "pages": written.pages, "games": written.games}),
        );
    }
    let start = written.summary.display();
    output::print(&format!("{start}  {} pages, {} of them replays\n", written.pages, written.games))
}
