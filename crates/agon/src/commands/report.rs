//! `agon report FILE DIR`: a competition as static pages that open from disk.

use agon_bots::Failure;
use agon_competition::LoadedCompetition;
use agon_report::GameSelection;
use agon_report::write::write_report_from;
use serde_json::json;

use crate::{cli, competition, output};

/// Which games have a page when nobody says: at most so many of each phase.
const GAMES: usize = 12;

/// Writes it.
pub fn run(args: &cli::Report) -> Result<(), Failure> {
    let wanted = match args.games.as_deref() {
        None => GameSelection::Some(GAMES),
        Some("all") => GameSelection::All,
        Some(number) => GameSelection::Some(number.parse().map_err(|_| {
            Failure::wrong_use(
                format!("--games: {number:?} is no number"),
                "how many of each phase, or `all`",
            )
        })?),
    };
    let sitting = LoadedCompetition::read(&args.file)?;
    let written = competition::runtime()?.block_on(async {
        let ledger = sitting.ledger_to_read_at(&args.kept.place()).await?;
        write_report_from(&sitting, &*ledger, &args.folder, wanted, &[]).await
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
