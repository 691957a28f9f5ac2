//! `agon table FILE`: prints the current tables of a competition.

use agon_bots::Diagnostic;
use agon_competition::LoadedCompetition;
use agon_report::table_formats;
use agon_runner::phase_results;
use agon_store::PhaseState;

use crate::args;
use crate::{competition, output};

/// Prints the tables.
pub fn run(args: &args::Table) -> Result<(), Diagnostic> {
    let loaded = LoadedCompetition::read(&args.file)?;
    let runtime = competition::runtime()?;
    let ledger = runtime.block_on(loaded.ledger_to_read_at(&args.ledger.location()))?;
    let phases = runtime.block_on(ledger.phases())?;
    let begun = phases.iter().rposition(|phase| phase.state > PhaseState::Waiting).unwrap_or(0);
    let number = match args.phase {
        None => begun as u32,
        Some(wanted) if wanted >= 1 && wanted as usize <= phases.len() => wanted - 1,
        Some(wanted) => {
            let what = format!("--phase: phase {wanted} does not exist");
            let hint = match phases.len() {
                1 => "the competition has one phase".to_owned(),
                all => format!("use a phase from 1 to {all}"),
            };
            return Err(Diagnostic::wrong_use(what, hint));
        }
    };
    let standings =
        phase_results::shown_standings(&*ledger, &loaded.competition, loaded.table.info(), number);
    let standings = runtime.block_on(standings)?;
    output::print(&table_formats::render(&standings, args.format, !args.no_times, output::table_width()))
}
