//! `agon compare GAME NEW OLD`: plays pairs of games until it is known whether NEW is better than OLD. The test itself is
//! `agon_league::compare`.

mod lineup;
mod pairs;
mod report;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use agon_bots::error::Diagnostic;
use agon_core::{Assets, BotLifetime, Settings};
use agon_engine::any_game::{AnyGame, bot_hash};
use agon_league::sprt::{TestParams, TestVerdict};
use signal_hook::consts::SIGINT;
use signal_hook::flag;

use crate::args::{Compare, OnOff};
use crate::{output, setup};
use lineup::CompareLineup;
use pairs::StopReason;
use report::{CompareProgress, CompareResult};

/// Default for `--elo1` if NEW and OLD play each other.
const DEFAULT_ELO1: f64 = 10.0;
/// Default for `--elo1` otherwise: a tenth of the standard deviation of a score difference.
const DEFAULT_ELO1_PAIRED: f64 = 35.0;

/// The checked arguments.
pub struct CompareJob<'a> {
    args: &'a Compare,
    table: Box<dyn AnyGame>,
    settings: Settings,
    assets: Assets,
    seed: u64,
    jobs: usize,
    pin: bool,
    question: TestParams,
    lineup: CompareLineup,
    /// Games per side of a pair: more than one if bots live for a match.
    match_games: u32,
    /// Maximum number of pairs.
    pairs: u32,
}

/// Plays pairs until the test has a result.
pub fn run(args: &Compare) -> Result<(), Diagnostic> {
    let job = parse(args)?;
    let interrupted = on_interrupt()?;
    let mut tally = CompareResult::new(&job);
    let mut live = CompareProgress::new(&job);
    let mut answer = TestVerdict::NotYet;
    let taken = std::cell::RefCell::new((&mut tally, &mut live, &mut answer));
    job.play::<Diagnostic>(
        &interrupted,
        |pair| {
            let (tally, live, answer) = &mut *taken.borrow_mut();
            tally.add(pair);
            **answer = tally.verdict();
            tally.note_first_fault();
            if **answer != TestVerdict::NotYet {
                return Ok(ControlFlow::Break(()));
            }
            live.show(tally)?;
            Ok(ControlFlow::Continue(()))
        },
        |stopped| {
            let (tally, live, _) = &mut *taken.borrow_mut();
            live.clear();
            if args.json {
                output::print_json_line("compare", tally.result_json(stopped))?;
            } else {
                output::print(&tally.result_text(stopped))?;
            }
            if stopped == StopReason::Interrupted {
                output::note("note: finishing the current games; press CTRL-C again to stop at once");
            }
            Ok(())
        },
    )?;
    match answer {
        TestVerdict::Yes => Ok(()),
        // The result is already on stdout.
        TestVerdict::No | TestVerdict::NotYet => Err(Diagnostic::already_shown()),
    }
}

/// Sets a flag on CTRL-C. A second CTRL-C ends the program.
fn on_interrupt() -> Result<Arc<AtomicBool>, Diagnostic> {
    let pressed = Arc::new(AtomicBool::new(false));
    flag::register_conditional_default(SIGINT, Arc::clone(&pressed))?;
    flag::register(SIGINT, Arc::clone(&pressed))?;
    Ok(pressed)
}

fn parse(args: &Compare) -> Result<CompareJob<'_>, Diagnostic> {
    let table = agon_engine::any_game(&args.game)?;
    let info = table.info();
    let seed = setup::seed(args.setup.seed.as_deref())?;
    let (settings, assets) = setup::settings(info, &args.setup.settings)?;
    let usual = if lineup::is_duel(args, info) { DEFAULT_ELO1 } else { DEFAULT_ELO1_PAIRED };
    let elo1 = args.elo1.unwrap_or(usual);
    let question = TestParams { elo0: args.elo0, elo1, alpha: args.alpha, beta: args.beta };
    question.validate().map_err(|error| {
        let hint = format!("the defaults are --elo0 0 --elo1 {usual} --alpha 0.05 --beta 0.05");
        Diagnostic::wrong_use(error, hint)
    })?;
    let match_games = args.match_games.unwrap_or(1);
    if args.match_games.is_some() && info.lifetime != BotLifetime::Match {
        let what = format!("--match-games: {} is not played in matches", args.game);
        return Err(Diagnostic::wrong_use(what, setup::no_matches_hint()));
    }
    let pairs = args.games / 2 / match_games.max(1);
    if match_games == 0 || pairs == 0 {
        let least = 2 * match_games.max(1);
        let what = format!("--games {}: a pair needs {least} games", args.games);
        return Err(Diagnostic::wrong_use(what, "omit it to play up to 20000"));
    }
    let mut jobs = setup::jobs(args.jobs)?.min(pairs as usize);
    let lineup = CompareLineup::new(args, table.as_ref(), &settings, &assets)?;
    lineup.try_load(table.as_ref(), &settings, &assets)?;
    if bot_hash(info, &lineup.bots[0]) == bot_hash(info, &lineup.bots[1]) {
        let [new, old] = lineup.names();
        output::note(&format!("note: {new} and {old} are the same bot"));
    }
    if lineup.one_by_one() && jobs > 1 {
        jobs = 1;
        if args.jobs.is_some() {
            output::note("note: one game at a time, because these bots keep data between matches");
        }
    }
    let pin = args.pin == OnOff::On;
    Ok(CompareJob { args, table, settings, assets, seed, jobs, pin, question, lineup, match_games, pairs })
}
