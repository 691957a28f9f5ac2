//! `agon debug ... --pdb`: a Python bot in this terminal, stopped in its own function at the turn in question.

use agon_bots::error::Failure;
use agon_core::{BotLifetime, ErrorKind, FaultReport};
use agon_engine::debug_replay::bot_seed;
use agon_engine::{PlayerSpec, RecordedRequest};
use agon_host::interactive::{InteractiveBot, InteractiveReply, with_module};

use super::debug::{DebugSession, differs, now_title};
use crate::logs::fault_text;
use crate::output;

/// Plays up to the turn, lets the author look around, and compares the answer.
pub fn run(case: &DebugSession<'_>) -> Result<(), Failure> {
    let Some(target) = target(case) else { return Ok(()) };
    let program = match &case.bot {
        PlayerSpec::Program(one) => with_module(&one.program, "debugging"),
        _ => None,
    };
    let Some(program) = program else {
        return Err(Failure::wrong_use(
            format!("--pdb: {} is not a Python bot (a folder, a .py or .py:Class)", case.bot.spec()),
            format!("--turn {} without --pdb shows what it saw and answered", target.turn),
        ));
    };
    let (Some(first), Some(film)) = (case.films.first(), case.film()) else { return Ok(()) };
    output::print(&(case.title() + &case.what_it_saw(target)))?;
    output::note("pdb: runs here, without the sandbox and without time limits; `c` goes on, `q` leaves");
    let broke = |what: String| Failure {
        kind: ErrorKind::Internal,
        message: format!("{}: {}\nhint: what it printed is above", case.bot.spec(), what.replace('\n', "; ")),
    };
    let seed = bot_seed(first.record(), case.seat);
    let mut talk = InteractiveBot::in_terminal(&program, seed).map_err(|e| broke(e.to_string()))?;
    let told = play_up_to(case, target, &mut talk).map_err(broke)?;
    drop(talk);
    let now = match told {
        InteractiveReply::Quit => return output::print("left the debugger before the bot had answered\n"),
        InteractiveReply::Answer(text) => film.judge_answer(target.turn, case.seat, &text),
        InteractiveReply::Fault(fault, says) => Err(FaultReport::new(fault, says)),
    };
    report(case, target, &now)
}

/// The turn that was asked for, else the first that went wrong, else the first.
fn target<'c>(case: &'c DebugSession<'_>) -> Option<&'c RecordedRequest> {
    let wanted = |request: &&RecordedRequest| Some(request.turn) == case.args.turn;
    let requests = case.requests.iter();
    let wrong = case.requests.iter().find(|request| request.recorded.is_err());
    requests.clone().find(wanted).or(wrong).or(requests.clone().next())
}

/// Tells the bot everything it was told before the turn, then stops it there.
fn play_up_to(
    case: &DebugSession<'_>,
    target: &RecordedRequest,
    talk: &mut InteractiveBot,
) -> Result<InteractiveReply, String> {
    // Where nothing is kept from one call to the next, the others need not be made.
    let alone = case.table.info().lifetime == BotLifetime::Call;
    if let Some(first) = case.films.first() {
        talk.hello(&first.hello(case.seat))?;
    }
    for (number, film) in (1..).zip(&case.films) {
        talk.start(number, bot_seed(film.record(), case.seat))?;
        let last = number as usize == case.films.len();
        for request in &film.requests(case.seat) {
            let here = last && request.turn == target.turn;
            if here {
                talk.say("break")?;
            }
            if here || !alone {
                let seen = film.observation(request.turn, case.seat).json;
                let told = talk.turn(request.name, request.limit, &seen)?;
                if here || told == InteractiveReply::Quit {
                    return Ok(told);
                }
            }
        }
        talk.end()?;
    }
    Ok(InteractiveReply::Quit)
}

fn report(
    case: &DebugSession<'_>,
    target: &RecordedRequest,
    now: &Result<String, FaultReport>,
) -> Result<(), Failure> {
    let same = match (&target.recorded, now) {
        (Ok(then), Ok(now)) => then == now,
        (Err(then), Err(now)) => then.fault == now.fault,
        _ => false,
    };
    let words = |title: &str, reply: &Result<String, FaultReport>| match reply {
        Ok(answer) => format!("{title:<14} {answer}\n"),
        Err(report) => format!("{title:<14} {}\n{}", report.fault, fault_text(report, false)),
    };
    output::print(&(words("recorded", &target.recorded) + &words(now_title(same), now)))?;
    if same { Ok(()) } else { Err(differs(case.number(), target.turn, false)) }
}
