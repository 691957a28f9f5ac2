//! `agon table FILE`: the tables of a competition as they stand.

use agon_bots::Failure;
use agon_competition::LoadedCompetition;
use agon_report::table_formats;
use agon_runner::phase_results;
use agon_store::PhaseState;

use crate::cli;
use crate::{competition, output};

/// Prints them.
pub fn run(args: &cli::Table) -> Result<(), Failure> {
    let sitting = LoadedCompetition::read(&args.file)?;
    let runtime = competition::runtime()?;
    let ledger = runtime.block_on(sitting.ledger_to_read_at(&args.kept.place()))?;
    let phases = runtime.block_on(ledger.phases())?;
    let begun = phases.iter().rposition(|phase| phase.state > PhaseState::Waiting).unwrap_or(0);
    let number = match args.phase {
        None => begun as u32,
        Some(wanted) if wanted >= 1 && wanted as usize <= phases.len() => wanted - 1,
        Some(wanted) => {
            let what = format!("--phase: there is no phase {wanted}");
            let hint = match phases.len() {
                1 => "it has one phase".to_owned(),
                all => format!("its phases are 1 to {all}"),
            };
            return Err(Failure::wrong_use(what, hint));
        }
    };
    let standings =
        phase_results::phase_standings(&*ledger, &sitting.competition, sitting.table.info(), number);
    let standings = runtime.block_on(standings)?;
    output::print(&table_formats::render(&standings, args.format, !args.no_times, output::table_width()))
}
