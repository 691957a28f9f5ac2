//! `agon debug ... --pdb`: runs a Python bot in this terminal, and stops it in pdb at one turn.

use agon_bots::error::Diagnostic;
use agon_core::{BotLifetime, Fault, FaultReport};
use agon_engine::debug_replay::bot_seed;
use agon_engine::{PlayerSpec, RecordedRequest};
use agon_host::interactive::{InteractiveBot, InteractiveReply, with_module};
use agon_host::{Program, python_script};

use super::debug::{DebugSession, difference_error, now_title};
use crate::logs::fault_text;
use crate::output;

/// Start of the error if no debugger can attach.
const ATTACH_FAILED: &str = "--attach: ";

/// Line that a script writes instead of an answer when the user quits the debugger.
const SCRIPT_QUIT: &str = "\0quit";

/// Replays up to the turn, starts the debugger there, and compares the answer.
pub fn run(session: &DebugSession<'_>) -> Result<(), Diagnostic> {
    let Some(target) = target(session) else { return Ok(()) };
    let program = match &session.bot {
        PlayerSpec::Program(one) => with_module(&one.program, "debugging"),
        _ => None,
    };
    let script = match &session.bot {
        PlayerSpec::Program(one) if !one.json_lines => python_script::with_tool(&one.program, "debug"),
        _ => None,
    };
    let (Some(program), is_script) = (program.or_else(|| script.clone()), script.is_some()) else {
        return Err(Diagnostic::wrong_use(
            format!("--pdb: {} is not a Python bot (a folder, a .py or .py:Class)", session.bot.spec()),
            format!("use --turn {} without --pdb to see its observation and answer", target.turn),
        ));
    };
    let (Some(first), Some(film)) = (session.films.first(), session.film()) else { return Ok(()) };
    output::print(&(session.title() + &session.turn_text(target, None)))?;
    let keys = if session.args.pdb { "; `c` continues, `q` quits" } else { "" };
    let tool = if session.args.pdb { "pdb" } else { "debugger" };
    output::note(&format!("{tool}: the bot runs without the sandbox and without time limits{keys}"));
    let broke = |what: String| {
        if let Some(problem) = what.strip_prefix(ATTACH_FAILED) {
            return Diagnostic::wrong_use(
                format!("{ATTACH_FAILED}{problem}"),
                "install it with `pip install debugpy`, or use --pdb",
            );
        }
        Diagnostic::internal(what.replace('\n', "; ")).about(session.bot.spec()).hint("see its output above")
    };
    let seed = bot_seed(first.record(), session.seat);
    let reply = if is_script {
        debug_script(session, target, program, seed).map_err(broke)?
    } else {
        let program = with_port(session, program);
        let mut talk = InteractiveBot::in_terminal(&program, seed).map_err(|e| broke(e.to_string()))?;
        let before = if session.args.pdb { "break" } else { "attach" };
        play_up_to(session, target, before, &mut talk).map_err(broke)?
    };
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

/// Sends the bot all messages before the turn, then the message `before`, then the turn.
pub fn play_up_to(
    session: &DebugSession<'_>,
    target: &RecordedRequest,
    before: &str,
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
                let reply = talk.say(before)?;
                if let Some(problem) = reply["problem"].as_str() {
                    return Err(format!("{ATTACH_FAILED}{problem}"));
                }
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

/// The program with the port for the debugger of an editor, if there is one.
fn with_port(session: &DebugSession<'_>, mut program: Program) -> Program {
    let port = session.args.attach.map(|port| ("AGON_ATTACH_PORT".to_owned(), port.to_string()));
    program.environment.extend(port);
    program
}

/// Runs a script that speaks the game's text protocol. It stops before its answer in the turn.
fn debug_script(
    session: &DebugSession<'_>,
    target: &RecordedRequest,
    mut program: Program,
    seed: u64,
) -> Result<InteractiveReply, String> {
    let Some(film) = session.film() else { return Ok(InteractiveReply::Quit) };
    let before = session.requests.iter().take_while(|request| request.turn != target.turn).count();
    program.environment.push(("AGON_BREAK".to_owned(), before.to_string()));
    program.environment.push(("AGON_GAME".to_owned(), session.table.info().id.to_owned()));
    let mut talk =
        InteractiveBot::in_terminal(&with_port(session, program), seed).map_err(|e| e.to_string())?;
    for request in session.requests.iter().take(before + 1) {
        let input = film.observation(request.turn, session.seat).text.unwrap_or_default();
        let line = match talk.text_turn(&input) {
            Ok(line) if line == SCRIPT_QUIT => return Ok(InteractiveReply::Quit),
            Ok(line) => line,
            // The script has failed or ended, as the terminal shows.
            Err(why) => return Ok(InteractiveReply::Fault(Fault::Crash, why)),
        };
        if request.turn == target.turn {
            return Ok(InteractiveReply::Answer(line));
        }
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
