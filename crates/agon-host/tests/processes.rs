//! Bots leave no process, zombie or descriptor behind, and stderr is limited.

#![allow(clippy::unwrap_used, clippy::similar_names, reason = "a test may panic")]

mod common;

use agon_core::{Assets, Game, Player, Seat};
use agon_games::colour_battle::ColourBattle;
use agon_host::{HelloInfo, JsonLinesPlayer, PlayerOptions, Program};
use common::{Seated, alone, children, example_in_python, faults, is_there, ms, play, script};

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn player(program: Program) -> JsonLinesPlayer<ColourBattle> {
    let settings = common::settings::<ColourBattle>(&[]);
    let game = ColourBattle::new(&settings, 2, &Assets::none()).unwrap();
    let told = HelloInfo::new(&game, &settings, Seat(0), &[]);
    JsonLinesPlayer::new(program, told, PlayerOptions::of::<ColourBattle>())
}

#[test]
fn stderr_of_any_length_blocks_nothing_and_its_end_is_kept() {
    let _alone = alone();
    let talks = script(
        "
while True:
    m = hear()
    if m['type'] != 'turn': ready(m); continue
    for i in range(40): sys.stderr.write('x' * 99999 + '\\n')
    sys.stderr.write('the end\\n')
    answer(m, 'NOWHERE')
",
    );
    let played =
        play::<ColourBattle>(&[("rounds", "3")], 1, vec![Seated::Program(talks), Seated::House("random")]);
    for fault in faults(&played, 0) {
        assert_eq!(fault.report.fault, agon_core::Fault::Garbled, "{}", fault.report.message);
        assert_eq!(fault.report.stderr.len(), 8 * 1024);
        assert!(fault.report.stderr.ends_with("x\nthe end\n"));
    }
}

#[test]
fn long_game_with_long_lines_is_played_to_the_end() {
    let _alone = alone();
    // It reads nothing for a while: the engine sends piece by piece what does not fit into the pipe.
    let slow_reader = script(
        "
while True:
    time.sleep(0.02)
    m = hear()
    answer(m, 'UP') if m['type'] == 'turn' else ready(m)
",
    );
    let mut players: Vec<Seated<ColourBattle>> = (0..63).map(|_| Seated::House("random")).collect();
    players.push(Seated::Program(slow_reader));
    let played = play::<ColourBattle>(&[("rounds", "20"), ("move_ms", "200")], 1, players);
    assert!(played.faults.is_empty(), "{:?}", played.faults);
}

#[test]
fn dropped_player_leaves_no_process_behind() {
    let _alone = alone();
    let forks = script(
        "
child = os.fork()
if child == 0: time.sleep(300); os._exit(0)
print(child, file=sys.stderr, flush=True)
m = hear()
answer(m, 'NOWHERE')
time.sleep(20)
",
    );
    let settings = common::settings::<ColourBattle>(&[]);
    let game = ColourBattle::new(&settings, 2, &Assets::none()).unwrap();
    let state = game.start(1);
    let mut player = player(forks);
    player.begin(1);
    player.ask(&game.observe(&state, Seat(0)), ms(2000));
    let report = player.answer().reply.unwrap_err();
    let (bot, child) = (player.process_id().unwrap(), report.stderr.trim().parse().unwrap());
    assert!(is_there(bot) && is_there(child));
    drop(player);
    assert!(!is_there(bot), "killed and reaped");
    // The process that adopts the grandchild reaps it.
    let gone = |pid: u32| match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat.contains(") Z "),
        Err(_) => true,
    };
    agon_test_servers::wait_until("the child of the bot is gone", || gone(child));
}

#[test]
fn hundred_games_leave_no_process_or_descriptor() {
    let _alone = alone();
    let game = |seed: u64| {
        let program =
            if seed.is_multiple_of(4) { script("hear(); os._exit(1)") } else { example_in_python() };
        let players = vec![Seated::Program(program), Seated::House("random")];
        play::<ColourBattle>(&[("rounds", "2")], seed, players);
    };
    // A thread keeps what it opens once; so does a thread of another test that is ending.
    game(0);
    let before = (children(), descriptors());
    (0..100).for_each(game);
    assert_eq!(children(), before.0);
    assert!(descriptors() <= before.1, "{} {}", descriptors(), before.1);
}

/// After `bye` a bot can finish its work, but at most for its limit.
#[test]
fn bot_gets_time_to_end_after_bye() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("learnt");
    let body = format!(
        "
while True:
    m = hear()
    if m['type'] == 'bye': break
    answer(m, 'UP')
bye = time.monotonic()
time.sleep(0.1)
open({file:?}, 'w').write(str(bye))
if os.environ.get('STAYS'): time.sleep(300)
"
    );
    for stays in [false, true] {
        let _ = std::fs::remove_file(&file);
        let mut program = script(&body);
        if stays {
            program.environment.push(("STAYS".to_owned(), "1".to_owned()));
        }
        play::<ColourBattle>(&[("rounds", "2")], 1, vec![Seated::Program(program), Seated::House("random")]);
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        // The time since the bot received `bye`, by the same clock.
        let bye: f64 = std::fs::read_to_string(&file).unwrap().parse().unwrap();
        let waited = now.tv_sec as f64 + now.tv_nsec as f64 / 1e9 - bye;
        assert_eq!(waited >= 0.99, stays, "{waited} s");
        assert!(waited < 100.0, "{waited} s");
    }
}

/// Prints a rough figure: the cost of a request and its answer besides the bot's own work.
#[test]
fn answer_overhead_is_small() {
    let _alone = alone();
    let answers = common::bare_script(
        "
import sys
read, write = sys.stdin.readline, sys.stdout.write
for i in range(1, 10**9):
    if not read(): break
    write('{\"id\":%d,\"answer\":\"UP\"}\\n' % i); sys.stdout.flush()
",
    );
    let players = vec![Seated::Program(answers), Seated::House("sweeper")];
    let begin = std::time::Instant::now();
    let played = play::<ColourBattle>(&[("rounds", "5000")], 1, players);
    assert!(played.faults.is_empty(), "{:?}", played.faults);
    let tally = &played.seats[0];
    eprintln!(
        "per answer: {:?} in total, {:?} wall time of the bot, {:?} CPU time",
        begin.elapsed() / tally.answers,
        tally.time.wall / tally.answers,
        tally.time.cpu / tally.answers
    );
}
