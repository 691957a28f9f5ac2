//! `agon compare GAME NEW OLD`: is NEW better than OLD? Plays pairs of games until it knows. The test itself is
//! `agon_league::compare`.

mod lineup;
mod pairs;
mod report;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use agon_bots::error::Failure;
use agon_core::{Assets, BotLifetime, ErrorKind, Settings};
use agon_engine::any_game::{AnyGame, bot_hash};
use agon_league::sprt::{TestParams, TestVerdict};
use signal_hook::consts::SIGINT;
use signal_hook::flag;

use crate::cli::{Compare, OnOff};
use crate::{output, setup};
use lineup::CompareLineup;
use pairs::Stopped;
use report::{CompareProgress, CompareResult};

/// Yes from so much Elo on, where they meet.
const ELO_1: f64 = 10.0;
/// The same where they do not: a tenth of the spread of a difference.
const ELO_1_PAIRED: f64 = 35.0;

/// What was asked for, understood and checked.
pub struct CompareJob<'a> {
    args: &'a Compare,
    table: Box<dyn AnyGame>,
    settings: Settings,
    assets: Assets,
    seed: u64,
    jobs: usize,
    pin: bool,
    question: TestParams,
    cast: CompareLineup,
    /// Games of one side of a pair: more than one where bots live for a match.
    match_games: u32,
    /// The most pairs that are played.
    pairs: u32,
}

/// Plays until it knows.
pub fn run(args: &Compare) -> Result<(), Failure> {
    let order = understand(args)?;
    let interrupted = on_interrupt()?;
    let mut tally = CompareResult::new(&order);
    let mut live = CompareProgress::new(&order);
    let mut answer = TestVerdict::NotYet;
    let taken = std::cell::RefCell::new((&mut tally, &mut live, &mut answer));
    order.play::<Failure>(
        &interrupted,
        |pair| {
            let (tally, live, answer) = &mut *taken.borrow_mut();
            tally.add(pair);
            **answer = order.question.verdict(tally.llr());
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
            if stopped == Stopped::Interrupted {
                output::note(
                    "note: the games that were being played come to their end; CTRL-C again stops at once",
                );
            }
            Ok(())
        },
    )?;
    match answer {
        TestVerdict::Yes => Ok(()),
        // Told on stdout already.
        TestVerdict::No | TestVerdict::NotYet => {
            Err(Failure { kind: ErrorKind::Rejected, message: String::new() })
        }
    }
}

/// CTRL-C is noted; a second one does what it always does.
fn on_interrupt() -> Result<Arc<AtomicBool>, Failure> {
    let pressed = Arc::new(AtomicBool::new(false));
    flag::register_conditional_default(SIGINT, Arc::clone(&pressed))?;
    flag::register(SIGINT, Arc::clone(&pressed))?;
    Ok(pressed)
}

fn understand(args: &Compare) -> Result<CompareJob<'_>, Failure> {
    let table = agon_engine::any_game(&args.game)?;
    let info = table.info();
    let seed = setup::seed(args.setup.seed.as_deref())?;
    let (settings, assets) = setup::settings(info, &args.setup.settings)?;
    let usual = if lineup::is_duel(args, info) { ELO_1 } else { ELO_1_PAIRED };
    let elo1 = args.elo1.unwrap_or(usual);
    let question = TestParams { elo0: args.elo0, elo1, alpha: args.alpha, beta: args.beta };
    question.validate().map_err(|error| {
        let hint = format!("without them it is --elo0 0 --elo1 {usual} --alpha 0.05 --beta 0.05");
        Failure::wrong_use(error, hint)
    })?;
    let match_games = args.match_games.unwrap_or(1);
    if args.match_games.is_some() && info.lifetime != BotLifetime::Match {
        let what = format!("--match-games: {} is not played in matches", args.game);
        return Err(Failure::wrong_use(what, setup::no_matches_hint()));
    }
    let pairs = args.games / 2 / match_games.max(1);
    if match_games == 0 || pairs == 0 {
        let least = 2 * match_games.max(1);
        let what = format!("--games {}: a pair takes {least} games", args.games);
        return Err(Failure::wrong_use(what, "leave it out to play up to 20000"));
    }
    let mut jobs = setup::jobs(args.jobs)?.min(pairs as usize);
    let cast = CompareLineup::new(args, table.as_ref(), &settings, &assets)?;
    cast.try_load(table.as_ref(), &settings, &assets)?;
    if bot_hash(info, &cast.bots[0]) == bot_hash(info, &cast.bots[1]) {
        let [new, old] = cast.names();
        output::note(&format!("note: {new} and {old} are the same bot"));
    }
    if cast.one_by_one() && jobs > 1 {
        jobs = 1;
        if args.jobs.is_some() {
            output::note("note: one game at a time: these bots keep something from match to match");
        }
    }
    let pin = args.pin == OnOff::On;
    Ok(CompareJob { args, table, settings, assets, seed, jobs, pin, question, cast, match_games, pairs })
}
