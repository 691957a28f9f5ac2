//! Writes a competition's report: a folder of static pages that open from disk.

use std::path::Path;

use agon_bots::error::Diagnostic;
use agon_competition::LoadedCompetition;
use agon_core::record::read;
use agon_engine::film::json::{FilmExtras, to_json};
use agon_league::Entrant;
use agon_store::Ledger;

use crate::collect;
use crate::data::{GameLine, PhaseReport};
use crate::folder::ReportWriter;
use crate::html::Viewer;
use crate::pages::{self, AdjacentGames};
use crate::select_games::GameSelection;
use crate::{Report, STYLE, STYLE_FILE};

/// Summary of a written report.
pub struct WrittenReport {
    /// The start page.
    pub summary: std::path::PathBuf,
    /// Number of pages.
    pub pages: usize,
    /// Number of replay pages.
    pub games: usize,
}

/// Writes a report with all games to a folder that may also contain the ledger.
pub async fn write_report_beside_ledger(
    loaded: &LoadedCompetition,
    ledger: &dyn Ledger,
    folder: &Path,
) -> Result<WrittenReport, Diagnostic> {
    let others = loaded.place.ledger.file_name().unwrap_or_default().to_string_lossy().into_owned();
    write_report_from(loaded, ledger, folder, GameSelection::All, &[&others]).await
}

/// Writes a report. Files whose names begin with one of `others` may exist in the folder, and stay.
pub async fn write_report(
    loaded: &LoadedCompetition,
    path: &Path,
    wanted: GameSelection,
    others: &[&str],
) -> Result<WrittenReport, Diagnostic> {
    write_report_from(loaded, &loaded.ledger_to_read().await?, path, wanted, others).await
}

/// Writes a report from an open ledger.
pub async fn write_report_from(
    loaded: &LoadedCompetition,
    ledger: &dyn Ledger,
    path: &Path,
    wanted: GameSelection,
    others: &[&str],
) -> Result<WrittenReport, Diagnostic> {
    let mut folder = ReportWriter::create(path, others)?;
    let report = collect::report(loaded, ledger, wanted).await?;
    folder.add(STYLE_FILE, STYLE.as_bytes())?;
    for name in [agon_web::SCRIPT, agon_web::STYLE] {
        folder.add(name, &agon_web::asset(name).unwrap_or_default())?;
    }
    folder.add("summary.html", pages::summary(&report).as_bytes())?;
    for phase in report.phases.iter().filter(|phase| phase.has_started()) {
        folder.add(&phase.file(), pages::phase(&report, phase).as_bytes())?;
    }
    for number in 0..report.entrants.len() as u32 {
        let entrant = Entrant(number);
        folder.add(&report.bot_file(entrant), pages::bot(&report, entrant).as_bytes())?;
    }
    let games = game_pages(loaded, ledger, &report, &mut folder).await?;
    let pages = folder.finish()?;
    Ok(WrittenReport { summary: path.join("summary.html"), pages, games })
}

/// Writes a page for each chosen game, one at a time, because a film may be large.
async fn game_pages(
    loaded: &LoadedCompetition,
    ledger: &dyn Ledger,
    report: &Report,
    folder: &mut ReportWriter,
) -> Result<usize, Diagnostic> {
    let mut count = 0;
    for phase in &report.phases {
        let chosen: Vec<&GameLine> = phase.games.shown.iter().filter(|game| game.has_page).collect();
        for (at, game) in chosen.iter().enumerate() {
            let beside = AdjacentGames {
                before: at.checked_sub(1).map(|before| chosen[before]),
                after: chosen.get(at + 1).copied(),
            };
            let page = game_page(loaded, ledger, report, phase, game, beside).await?;
            folder.add(&game.file(), page.as_bytes())?;
            count += 1;
        }
    }
    Ok(count)
}

async fn game_page(
    loaded: &LoadedCompetition,
    ledger: &dyn Ledger,
    report: &Report,
    phase: &PhaseReport,
    game: &GameLine,
    beside: AdjacentGames<'_>,
) -> Result<String, Diagnostic> {
    let broke = |error: &dyn std::fmt::Display| {
        let hint = "the ledger is damaged; resume from a backup";
        Diagnostic::internal(error).about(format!("the record of match {}", game.number())).hint(hint)
    };
    let bytes = ledger.record(game.key, game.game).await?.ok_or_else(|| broke(&"it is not in the ledger"))?;
    let (record, _) = read(&bytes, 1).map_err(|error| broke(&error))?;
    let film = loaded.table.film(record, &loaded.assets).map_err(|error| broke(&error))?;
    let by = |seat: &crate::data::SeatLine| report.entrants.get(seat.entrant.index())?.contributor.clone();
    let extras = FilmExtras {
        contributors: game.seats.iter().map(by).collect(),
        colours: game.seats.iter().map(|seat| seat.entrant.0).collect(),
        wins: game.wins_before.clone(),
        bot_output: Vec::new(),
        hide_seed: report.seed.is_none(),
    };
    let film = to_json(loaded.table.info(), film.as_ref(), &extras);
    let viewer = Viewer { script: agon_web::SCRIPT, style: agon_web::STYLE };
    Ok(pages::game(report, phase, game, beside, viewer, &agon_web::viewer_html(&film)))
}
