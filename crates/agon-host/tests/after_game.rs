//! What a bot does after a game (Connect Five's `adjust`) and after a match (`train`) has a limit. Over it the call is stopped, and
//! nothing is lost.

#![allow(clippy::unwrap_used, clippy::similar_names, reason = "a test may panic")]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use agon_core::{Assets, Game as _, Player as _, Seat};
use agon_games::connect_five::ConnectFive;
use agon_host::{HelloInfo, JsonLinesPlayer, PlayerOptions, Program, python, sandbox};
use common::{alone, is_there, ms, script, settings};

/// A sandboxed Python bot whose methods after a game and a match are these lines.
fn bot(after_game: &str, after_match: &str) -> (tempfile::TempDir, Program) {
    sandbox::set_test_launcher(env!("CARGO_BIN_EXE_agon-launch"));
    let folder = tempfile::Builder::new().prefix("agon-after-game-").tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let source = format!(
        "import os, time

class Learner:
    def get_move(self, board, player, T, N):
        return board[0].index(0)

    def adjust(self):
        os.write(2, b'adjusts\\n')
        {after_game}

    def train(self):
        os.write(2, b'trains\\n')
        {after_match}
"
    );
    let path = folder.path().join("Learner.py");
    fs::write(&path, source).unwrap();
    let program = python::bot(ConnectFive::info(), &path, None).unwrap().sandboxed();
    (folder, program)
}

/// A player with short limits after a game and after a match. The one after a match is longer, because waiting for a processor counts there.
fn player(program: Program) -> JsonLinesPlayer<ConnectFive> {
    let settings = settings::<ConnectFive>(&[]);
    let game = ConnectFive::new(&settings, 2, &Assets::none()).unwrap();
    let names = ["a".to_owned(), "b".to_owned()];
    let hello = HelloInfo::new(&game, &settings, Seat(0), &names);
    let options = PlayerOptions { end: ms(300), bye: ms(2000), ..PlayerOptions::of::<ConnectFive>() };
    JsonLinesPlayer::new(program, hello, options)
}

/// Plays the first turn of a game. Returns the process that has answered.
fn play_turn(player: &mut JsonLinesPlayer<ConnectFive>, seed: u64) -> u32 {
    let game = ConnectFive::new(&settings::<ConnectFive>(&[]), 2, &Assets::none()).unwrap();
    let state = game.start(seed);
    player.begin(seed);
    player.ask(&game.observe(&state, Seat(0)), ms(10_000));
    let reply = player.answer().reply;
    assert!(reply.is_ok(), "{reply:?}");
    player.process_id().unwrap()
}

#[test]
fn adjust_over_its_limit_is_stopped_and_the_next_game_is_played() {
    let _alone = alone();
    for endless in ["while True: time.sleep(60)", "while True: pass"] {
        let (_folder, program) = bot(endless, "pass");
        let mut player = player(program);
        for seed in 1..=2 {
            let process = play_turn(&mut player, seed);
            let fault = player.game_over();
            assert!(fault.is_none(), "{endless}: {fault:?}");
            assert!(player.process_id().is_none(), "{endless}: it still runs");
            agon_test_servers::wait_until("the process of the call is gone", || !is_there(process));
            let printed = player.take_output();
            assert!(printed.contains("adjusts\n") && printed.contains("stopped"), "{endless}: {printed}");
        }
        play_turn(&mut player, 3);
    }
}

#[test]
fn program_that_does_not_answer_the_end_of_a_game_is_stopped_and_the_next_game_is_played() {
    let _alone = alone();
    let mut player = player(script(
        "
while True:
    m = hear()
    if m['type'] == 'turn': answer(m, 0)
    elif m['type'] == 'end': time.sleep(300)
    else: ready(m)
",
    ));
    for seed in 1..=2 {
        let process = play_turn(&mut player, seed);
        let fault = player.game_over();
        assert!(fault.is_none(), "{fault:?}");
        agon_test_servers::wait_until("the process is gone", || !is_there(process));
    }
    play_turn(&mut player, 3);
}

#[test]
fn train_over_its_limit_is_stopped_and_costs_nothing() {
    let _alone = alone();
    let (_folder, program) = bot("pass", "while True: time.sleep(60)");
    let mut player = player(program);
    // The second match finds a bot that was loaded again.
    for seed in 1..=2 {
        let process = play_turn(&mut player, seed);
        assert!(player.game_over().is_none());
        let fault = player.match_over();
        assert!(fault.is_none(), "{fault:?}");
        agon_test_servers::wait_until("the process of the call is gone", || !is_there(process));
        let printed = player.take_output();
        assert!(printed.contains("adjusts\n") && printed.contains("trains\n"), "{printed}");
    }
}
