//! Clocks: which bots are late, and what is charged.

#![allow(clippy::unwrap_used, clippy::similar_names, reason = "a test may panic")]

mod common;

use std::time::{Duration, Instant};

use agon_core::Fault;
use agon_games::colour_battle::ColourBattle;
use agon_games::connect_five::ConnectFive;
use agon_games::hide_and_seek::HideAndSeek;
use agon_games::word_racer::{WordRacer, text_protocol::write_request};
use agon_host::timing::thread_wait;
use agon_host::{PlayerOptions, TextPlayer};
use common::{Seated, alone, bare_script, faults, first_fault, ms, play, script};

/// A Connect Five bot that executes `what` before each answer.
fn before_each_answer(what: &str) -> agon_host::Program {
    script(&format!(
        "
def busy(seconds):
    # Not the process's clock: where there is a limit of processor time, that one is up to date only at timer ticks.
    end = time.thread_time() + seconds
    while time.thread_time() < end: pass
while True:
    m = hear()
    if m['type'] == 'turn':
        {what}
        answer(m, next(c for c in range(9) if m['observation']['board'][0][c] == 0))
    else:
        ready(m)
"
    ))
}

#[test]
fn bot_past_its_limit_is_killed_soon_after_it() {
    let _alone = alone();
    for what in ["time.sleep(60)", "busy(60)", "sys.stdout.write('{'); sys.stdout.flush(); time.sleep(60)"] {
        let begin = Instant::now();
        let players = vec![Seated::Program(before_each_answer(what)), Seated::House("random")];
        let played = play::<ConnectFive>(&[("seconds", "0.3")], 1, players);
        assert_eq!(first_fault(&played).0, Fault::Timeout, "{what}");
        let charged = played.seats[0].longest;
        // Run-queue time is never charged, so this bound holds on a busy machine too.
        assert!(charged > ms(300) && charged < ms(500), "{what}: {charged:?}");
        assert!(begin.elapsed() < ms(5_000), "{what}: {:?}", begin.elapsed());
    }
}

#[test]
fn slightly_late_answer_is_a_timeout_and_the_bot_lives() {
    let _alone = alone();
    let players = vec![Seated::Program(before_each_answer("busy(0.13)")), Seated::House("random")];
    let played = play::<ConnectFive>(&[("seconds", "0.1")], 1, players);
    assert_eq!(first_fault(&played).0, Fault::Timeout);
}

#[test]
fn wall_time_and_cpu_time_are_measured_separately() {
    let _alone = alone();
    let players = vec![Seated::Program(before_each_answer("time.sleep(0.02)")), Seated::House("random")];
    let sleeper = play::<ConnectFive>(&[], 1, players).seats[0];
    let players = vec![Seated::Program(before_each_answer("busy(0.02)")), Seated::House("random")];
    let spinner = play::<ConnectFive>(&[], 1, players).seats[0];
    assert!(sleeper.time.wall >= sleeper.answers * ms(20), "{sleeper:?}");
    assert!(sleeper.time.cpu < sleeper.answers * ms(10), "{sleeper:?}");
    assert!(spinner.time.cpu >= spinner.answers * ms(19), "{spinner:?}");
}

/// With four busy processes for each core, a bot that uses half its limit of CPU time has no timeout.
#[test]
fn honest_bot_on_a_loaded_machine_is_not_late() {
    let _alone = alone();
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let load: Vec<_> = (0..4 * cores)
        .map(|_| {
            let spin = "import time\nend = time.time() + 20\nwhile time.time() < end: pass";
            std::process::Command::new(common::python()).args(["-c", spin]).spawn().unwrap()
        })
        .collect();
    let slow_start = PlayerOptions { start: ms(60_000), ..PlayerOptions::of::<ConnectFive>() };
    let bot = |what: &str| Seated::ProgramWith(before_each_answer(what), slow_start);
    let honest =
        play::<ConnectFive>(&[("seconds", "0.04")], 1, vec![bot("busy(0.02)"), Seated::House("random")]);
    let greedy =
        play::<ConnectFive>(&[("seconds", "0.04")], 1, vec![bot("busy(0.052)"), Seated::House("random")]);
    for mut process in load {
        process.kill().unwrap();
        process.wait().unwrap();
    }
    let tally = &honest.seats[0];
    assert!(honest.faults.is_empty(), "{:?} {tally:?}", honest.faults);
    assert!(tally.time.charged() < tally.time.cpu + tally.answers * ms(5), "{tally:?}");
    eprintln!(
        "under load: wall {:?}, processor {:?}, waiting {:?}",
        tally.time.wall, tally.time.cpu, tally.time.wait
    );
    assert_eq!(first_fault(&greedy).0, Fault::Timeout);
}

/// Seat 0 answers after 30 ms, the others at once: they are not charged for the wait. All of seat 0's sleep is charged, with two exceptions
/// that favour it on a busy machine: its wait for a processor since its last answer, which the kernel reports only when it has ended, and
/// the engine's own wait while it sends. The bot and this test measure them.
#[test]
fn bot_is_not_charged_for_waiting_behind_another() {
    let _alone = alone();
    let report = std::env::temp_dir().join(format!("agon-test-wait-{}", std::process::id()));
    let slow = Seated::Program(script(&format!(
        "
def waited(): return int(open('/proc/self/schedstat').read().split()[1])
report, between, before = open('{}', 'w'), 0, waited()
while True:
    m = hear()
    between += waited() - before
    report.seek(0)
    report.write(f'{{between:20}}')
    report.flush()
    if m['type'] == 'turn':
        time.sleep(0.03)
        before = waited()
        answer(m, 'UP')
    else:
        before = waited()
        ready(m)
",
        report.display()
    )));
    let quick = || {
        Seated::Program(script(
            "
while True:
    m = hear()
    if m['type'] == 'turn': answer(m, 'UP')
    else: ready(m)
",
        ))
    };
    let engine_before = thread_wait();
    // The slow bot is first, so the engine waits for it first.
    let played =
        play::<ColourBattle>(&[("rounds", "10"), ("move_ms", "100")], 1, vec![slow, quick(), quick()]);
    let engine = thread_wait().saturating_sub(engine_before);
    let between = std::fs::read_to_string(&report).unwrap().trim().parse().map(Duration::from_nanos).unwrap();
    std::fs::remove_file(&report).unwrap();
    assert!(played.faults.is_empty());
    let charged = |seat: usize| played.seats[seat].time.charged();
    assert!(
        charged(0) + between + engine >= ms(299),
        "{:?}; waits: {between:?} between turns, {engine:?} of the engine",
        charged(0)
    );
    assert!(charged(1) < ms(100) && charged(2) < ms(100), "{:?} {:?}", charged(1), charged(2));
}

/// A second thread counts between requests. If the bot is stopped, it does not get far.
#[test]
fn stopped_bot_does_not_work_between_requests() {
    let _alone = alone();
    let counts = || {
        script(
            "
import threading
steps = 0
def count():
    global steps
    while True: steps += 1; time.sleep(0.001)
threading.Thread(target=count, daemon=True).start()
before = 0
while True:
    m = hear()
    if m['type'] == 'turn':
        print(steps - before, file=sys.stderr, flush=True)
        answer(m, 'NOWHERE')
        before = steps
    else: ready(m)
",
        )
    };
    let slow = || {
        Seated::Program(script(
            "
while True:
    m = hear()
    if m['type'] == 'turn': time.sleep(0.4); answer(m, 'UP')
    else: ready(m)
",
        ))
    };
    let counted = |hold| {
        let conditions = PlayerOptions { hold, ..PlayerOptions::of::<ColourBattle>() };
        let played = play::<ColourBattle>(
            &[("rounds", "3"), ("move_ms", "500")],
            1,
            vec![slow(), Seated::ProgramWith(counts(), conditions)],
        );
        let log = &faults(&played, 1).last().unwrap().report.stderr;
        log.lines().last().unwrap().parse::<u32>().unwrap()
    };
    let (held, free) = (counted(true), counted(false));
    assert!(free > held + 20, "{held} {free}");
}

/// The start of a Word Racer program is charged, in both protocols, unless the organiser disables it.
#[test]
fn start_is_charged_where_the_game_says_so() {
    let _alone = alone();
    let sleepy = "import time; time.sleep(0.6); input(); input(); print('Q 0', flush=True); time.sleep(9)";
    let player = Box::new(TextPlayer::<WordRacer>::new(bare_script(sleepy), write_request));
    let played =
        play::<WordRacer>(&[("seconds", "0.8")], 2, vec![Seated::Player(player), Seated::House("random")]);
    assert_eq!(first_fault(&played).0, Fault::Timeout);
    assert!(played.seats[0].time.wall >= ms(600), "{:?}", played.seats[0]);

    // It sleeps after the first message: the engine's own start on a busy machine is not charged.
    let late = "import sys, time\nlines = sys.stdin\ndef read_late():\n    first = lines.readline()\n    time.sleep(0.5)\n    \
                yield first\n    yield from lines\nsys.stdin = read_late()\n";
    let program = common::example_in_python();
    let source = std::fs::read_to_string(program.folder.join("bot.py")).unwrap();
    let program = bare_script(&format!("{late}{source}"));
    let free = PlayerOptions { start_is_charged: false, ..PlayerOptions::of::<WordRacer>() };
    for (conditions, counts) in [(PlayerOptions::of::<WordRacer>(), true), (free, false)] {
        let players = vec![Seated::ProgramWith(program.clone(), conditions), Seated::House("random")];
        let played = play::<WordRacer>(&[], 2, players);
        assert!(played.faults.is_empty(), "{:?}", played.faults);
        assert_eq!(played.seats[0].longest >= ms(500), counts, "{:?}", played.seats[0]);
    }
}

/// The shared clock of Hide and Seek: a bot that sleeps past it loses the game.
#[test]
fn shared_clock_runs_out() {
    let _alone = alone();
    let sleeps = script("m = hear(); time.sleep(30)");
    let players = vec![Seated::Program(sleeps), Seated::House("still-hider")];
    let played = play::<HideAndSeek>(&[("seconds", "1")], 1, players);
    assert!(played.outcome.ended.starts_with("time over"), "{:?}", played.outcome);
}
