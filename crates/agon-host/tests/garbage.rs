//! Every kind of invalid output leads to its fault, with the bot's message, and the game continues.

#![allow(clippy::unwrap_used, clippy::similar_names, reason = "a test may panic")]

mod common;

use agon_core::Fault::{self, Crash, Garbled, Illegal, Timeout};
use agon_core::Player as _;
use agon_games::colour_battle::ColourBattle;
use agon_games::connect_five::ConnectFive;
use agon_games::hide_and_seek::HideAndSeek;
use agon_host::{PlayerOptions, Program};
use common::{Seated, alone, bare_script, faults, first_fault, ms, play, play_match, script};

/// Plays four rounds with this bot at seat 0. Returns its faults by round, and the first one's message and stderr.
fn four_rounds(program: Program) -> (Vec<(u32, Fault)>, String, String) {
    let conditions = PlayerOptions { start: ms(1500), ..PlayerOptions::of::<ColourBattle>() };
    let players = vec![Seated::ProgramWith(program, conditions), Seated::House("random")];
    let played = play::<ColourBattle>(&[("rounds", "4"), ("move_ms", "250")], 3, players);
    assert!(faults(&played, 1).is_empty());
    let all = faults(&played, 0).iter().map(|fault| (fault.turn, fault.report.fault)).collect();
    let (_, says, stderr) = first_fault(&played);
    (all, says.to_owned(), stderr.to_owned())
}

/// A bot that executes `what` instead of its second answer, and answers correctly otherwise.
fn instead_of_the_second(what: &str) -> Program {
    script(&format!(
        "
turn = 0
while True:
    m = hear()
    turn += 1
    if turn == 2:
        {what}
    elif m['type'] == 'turn':
        answer(m, 'UP')
    else:
        ready(m)
"
    ))
}

fn check(what: &str, wanted: &[(u32, Fault)], words: &str) {
    let (found, says, _) = four_rounds(instead_of_the_second(what));
    assert_eq!(found, wanted, "{what}: {says}");
    assert!(says.contains(words), "{what}: {says}");
}

/// A line that is not an answer costs this answer; the bot plays on.
#[test]
fn unreadable_line_costs_one_answer() {
    let _alone = alone();
    let once = &[(2, Garbled)];
    check("say('UP')", once, "not a JSON object: `UP`");
    check("say('')", once, "not a JSON object: ``");
    check("say('{\"id\": 4, \"answer\": \"UP\"')", once, "not a JSON object");
    check("say('\\0\\0{\"id\": 4}')", once, "\\u{0}");
    check("sys.stdout.buffer.write(b'\\xff\\xfe\\n'); sys.stdout.flush()", once, "not a JSON object");
    check("say('{}')", once, "without a whole number `id`");
    check("say('\\x1b[2J')", once, "`\\u{1b}[2J`");
    check("ready(m)", once, "no `answer`");
    check("answer(m, {'move': 'UP'})", once, "neither a string nor a number nor a list");
    check("answer(m, 'NORTH')", once, "expected UP, DOWN, LEFT, RIGHT or STAY");
    check("answer(m, 1e300)", once, "expected UP");
    check("answer(m, float('nan'))", once, "not a JSON object");
    check("say('[' * 60000)", once, "not a JSON object");
    check(
        "say(' ' * 65000 + json.dumps({'id': m['id'], 'answer': 'UP', 'x': 1}).replace('UP', 'NO'))",
        once,
        "expected UP",
    );
}

/// A bot that is out of step is killed.
#[test]
fn bot_out_of_step_is_killed() {
    let _alone = alone();
    let stopped = &[(2, Garbled), (3, Crash), (4, Crash)];
    check("say(json.dumps({'id': m['id'] + 1, 'answer': 'UP'}))", stopped, "answered 5 when 4 was asked");
    check("say(json.dumps({'id': 18446744073709551615, 'answer': 'UP'}))", stopped, "when 4 was asked");
    check("say('x' * 70000)", stopped, "longer than 64 KiB");
    check("say('x' * 70000000)", stopped, "longer than 64 KiB");
    // Output together with the answer, or between requests, is detected at the next request.
    let next = &[(3, Garbled), (4, Crash)];
    let twice = "say(json.dumps({'id': m['id'], 'answer': 'UP'}) + '\\n' + json.dumps({'id': m['id'], 'answer': 'UP'}))";
    check(twice, next, "wrote without being asked: `{\"id\": 4, \"answer\": \"UP\"}\\n`");
    let debug = "print('thinking'); answer(m, 'UP')";
    check(debug, &[(2, Garbled), (3, Garbled), (4, Crash)], "not a JSON object: `thinking`");
    let later = "answer(m, 'UP'); time.sleep(0.01); answer(m, 'UP')";
    check(later, next, "");
}

#[test]
fn answer_before_the_request_is_rejected() {
    let _alone = alone();
    let early = bare_script(
        "
import sys
sys.stdout.write(''.join('{\"id\": %d, \"answer\": \"UP\"}\\n' % i for i in range(1, 20))); sys.stdout.flush()
sys.stdin.read()
",
    );
    let (found, says, _) = four_rounds(early);
    assert_eq!(found, [(1, Garbled), (2, Crash), (3, Crash), (4, Crash)]);
    assert!(says.starts_with("wrote without being asked"), "{says}");
}

#[test]
fn bot_that_ends_has_crashed_and_is_not_restarted() {
    let _alone = alone();
    let stopped = &[(2, Crash), (3, Crash), (4, Crash)];
    check("sys.exit(0)", stopped, "ended by itself");
    check("os._exit(7)", stopped, "ended with status 7");
    check("os.kill(os.getpid(), 11)", stopped, "signal 11 (segmentation fault)");
    check(
        "sys.stdout.write('{\"id\": 4, \"ans'); sys.stdout.flush(); os._exit(0)",
        stopped,
        "without an end: `{\"id\": 4, \"ans`",
    );
    check("os.close(1); time.sleep(5)", stopped, "closed its standard output");
    // A child that keeps the pipe open does not hide that the bot has ended. The child is killed before it ends by itself.
    check("os.fork() and os._exit(3); time.sleep(2); os._exit(0)", stopped, "ended with status 3");
    let (_, says, stderr) = four_rounds(instead_of_the_second("raise ValueError('no idea')"));
    assert_eq!(says, "ended with status 1");
    assert!(stderr.contains("ValueError: no idea"), "{stderr}");
}

#[test]
fn faults_after_a_crash_have_a_short_message() {
    let _alone = alone();
    let players = vec![Seated::Program(instead_of_the_second("os._exit(7)")), Seated::House("random")];
    let played = play::<ColourBattle>(&[("rounds", "3")], 3, players);
    let last = &faults(&played, 0).last().unwrap().report;
    assert_eq!(last.message, "not running any more after a crash earlier in the game");
    assert_eq!(last.stderr, "");
}

#[test]
fn bot_that_never_becomes_ready_is_not_asked() {
    let _alone = alone();
    let all = |first| [(1, first), (2, Crash), (3, Crash), (4, Crash)];
    for (body, fault, words) in [
        ("import time; time.sleep(30)", Timeout, "not ready within 1.5s of its start"),
        ("raise SystemExit(2)", Crash, "ended with status 2"),
        ("import sys; print('Bot 1.0'); sys.stdin.read()", Garbled, "not a JSON object"),
        ("print('Hello'); print('World'); input()", Garbled, "not a JSON object: `Hello`"),
    ] {
        let (found, says, _) = four_rounds(bare_script(body));
        assert!(found == all(fault) || fault == Garbled && found == all(Timeout), "{body}: {found:?} {says}");
        assert!(says.contains(words) || found[0].1 == Timeout, "{body}: {says}");
    }
    let missing = Program::new(["/no/such/program"], std::env::temp_dir());
    let (found, says, _) = four_rounds(missing);
    assert_eq!(found, all(Crash));
    assert!(says.starts_with("could not be started: "), "{says}");
}

#[test]
fn illegal_answer_is_judged_by_the_rules() {
    let _alone = alone();
    let walks_off = instead_of_the_second("answer(m, [3, 99])");
    let always = play::<HideAndSeek>(
        &[("steps", "4")],
        1,
        vec![Seated::Program(walks_off), Seated::House("still-hider")],
    );
    let (fault, says, _) = first_fault(&always);
    assert_eq!(fault, Illegal, "{says}");
    let full = script("while True: m = hear(); answer(m, 9) if m['type'] == 'turn' else ready(m)");
    let played = play_match::<ConnectFive>(&[], 1, 3, vec![Seated::Program(full), Seated::House("random")]);
    assert_eq!(played.len(), 3, "an illegal column loses the game, not the match");
    assert!(first_fault(&played[0]).1.contains("column 9 does not exist"));
}

/// A timeout loses the game, not the match: the next game starts with a new process.
#[test]
fn match_continues_after_a_timeout() {
    let _alone = alone();
    let sleeps_once = script(
        "
first = True
while True:
    m = hear()
    if m['type'] == 'turn':
        if m['observation']['N'] == 0: time.sleep(5)
        answer(m, next(c for c in range(9) if m['observation']['board'][0][c] == 0))
    else:
        ready(m)
",
    );
    let players = vec![Seated::Program(sleeps_once), Seated::House("random")];
    let played = play_match::<ConnectFive>(&[("seconds", "0.2")], 1, 3, players);
    assert_eq!(played.len(), 3);
    assert_eq!(first_fault(&played[0]).0, Timeout);
    assert!(played[1].faults.is_empty() && played[2].faults.is_empty(), "{:?}", played[1].faults);
}

#[test]
fn player_that_was_not_asked_reports_a_fault() {
    let settings = common::settings::<ColourBattle>(&[]);
    let game = <ColourBattle as agon_core::Game>::new(&settings, 2, &agon_core::Assets::none()).unwrap();
    let told = agon_host::HelloInfo::new(&game, &settings, agon_core::Seat(0), &[]);
    let mut player = agon_host::JsonLinesPlayer::<ColourBattle>::new(
        script(""),
        told,
        PlayerOptions::of::<ColourBattle>(),
    );
    assert_eq!(player.answer().reply.unwrap_err().message, "was not asked");
    player.game_over();
    player.match_over();
}
