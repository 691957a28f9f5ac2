//! `agon debug ... --pdb`: runs a Python bot in this terminal, and stops it in pdb at one turn.

use agon_bots::error::Diagnostic;
use agon_core::{BotLifetime, FaultReport};
use agon_engine::debug_replay::bot_seed;
use agon_engine::{PlayerSpec, RecordedRequest};
use agon_host::interactive::{InteractiveBot, InteractiveReply, with_module};

use super::debug::{DebugSession, difference_error, now_title};
use crate::logs::fault_text;
use crate::output;

/// Replays up to the turn, starts the debugger there, and compares the answer.
pub fn run(session: &DebugSession<'_>) -> Result<(), Diagnostic> {
    let Some(target) = target(session) else { return Ok(()) };
    let program = match &session.bot {
        PlayerSpec::Program(one) => with_module(&one.program, "debugging"),
        _ => None,
    };
    let Some(program) = program else {
        return Err(Diagnostic::wrong_use(
            format!("--pdb: {} is not a Python bot (a folder, a .py or .py:Class)", session.bot.spec()),
            format!("use --turn {} without --pdb to see its observation and answer", target.turn),
        ));
    };
    let (Some(first), Some(film)) = (session.films.first(), session.film()) else { return Ok(()) };
    output::print(&(session.title() + &session.turn_text(target)))?;
    output::note("pdb: the bot runs without the sandbox and without time limits; `c` continues, `q` quits");
    let broke = |what: String| {
        Diagnostic::internal(what.replace('\n', "; ")).about(session.bot.spec()).hint("see its output above")
    };
    let seed = bot_seed(first.record(), session.seat);
    let mut talk = InteractiveBot::in_terminal(&program, seed).map_err(|e| broke(e.to_string()))?;
    let reply = play_up_to(session, target, &mut talk).map_err(broke)?;
    drop(talk);
    let now = match reply {
        InteractiveReply::Quit => return output::print("quit the debugger before the bot answered\n"),
        InteractiveReply::Answer(text) => film.judge_answer(target.turn, session.seat, &text),
        InteractiveReply::Fault(fault, says) => Err(FaultReport::new(fault, says)),
    };
    report(session, target, &now)
}

/// The requested turn, else the first turn with a fault, else the first turn.
fn target<'c>(session: &'c DebugSession<'_>) -> Option<&'c RecordedRequest> {
    let wanted = |request: &&RecordedRequest| Some(request.turn) == session.args.turn;
    let requests = session.requests.iter();
    let wrong = session.requests.iter().find(|request| request.recorded.is_err());
    requests.clone().find(wanted).or(wrong).or(requests.clone().next())
}

/// Sends the bot all messages before the turn, then stops it there.
fn play_up_to(
    session: &DebugSession<'_>,
    target: &RecordedRequest,
    talk: &mut InteractiveBot,
) -> Result<InteractiveReply, String> {
    // A bot that lives for one call keeps nothing, so the earlier calls are not needed.
    let alone = session.table.info().lifetime == BotLifetime::Call;
    if let Some(first) = session.films.first() {
        talk.hello(&first.hello(session.seat))?;
    }
    for (number, film) in (1..).zip(&session.films) {
        talk.start(number, bot_seed(film.record(), session.seat))?;
        let last = number as usize == session.films.len();
        for request in &film.requests(session.seat) {
            let here = last && request.turn == target.turn;
            if here {
                talk.say("break")?;
            }
            if here || !alone {
                let seen = film.observation(request.turn, session.seat).json;
                let reply = talk.turn(request.name, request.limit, &seen)?;
                if here || reply == InteractiveReply::Quit {
                    return Ok(reply);
                }
            }
        }
        talk.end()?;
    }
    Ok(InteractiveReply::Quit)
}

fn report(
    session: &DebugSession<'_>,
    target: &RecordedRequest,
    now: &Result<String, FaultReport>,
) -> Result<(), Diagnostic> {
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
    if same { Ok(()) } else { Err(difference_error(session.game_number(), target.turn, false)) }
}
