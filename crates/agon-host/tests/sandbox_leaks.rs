//! One test in a separate process: many bots leave nothing behind.

mod jail;

use std::fs;

use agon_host::sandbox::BotExit;

use jail::{Arena, Situation, processes_naming};

#[test]
fn many_bots_leave_nothing_behind() {
    let arenas: Vec<Arena> = Situation::all().into_iter().map(Arena::new).collect();
    let play = |arena: &Arena, rounds: usize| {
        // Some end by themselves, some are killed, and each leaves a child behind.
        let code = "if os.fork() == 0: time.sleep(20)\nif sys.stdin.readline() == 'end\\n': sys.exit(3)\ntime.sleep(20)";
        let policy = arena.policy(code);
        for round in 0..rounds {
            let mut jailed = arena.spawn(&policy).expect("spawn");
            if round % 2 == 0 {
                std::io::Write::write_all(&mut jailed.take_stdin().expect("stdin"), b"end\n").expect("write");
                assert_eq!(jailed.wait_for(None), Some(BotExit::Exited(3)));
            }
        }
    };
    let descriptors = || fs::read_dir("/proc/self/fd").expect("list").count();
    for arena in &arenas {
        play(arena, 1);
    }
    let before = descriptors();
    // Several threads start bots at once, as an engine does.
    std::thread::scope(|scope| {
        for arena in &arenas {
            scope.spawn(move || play(arena, 20));
        }
    });
    assert_eq!(descriptors(), before);
    for arena in &arenas {
        assert_eq!(processes_naming(arena), Vec::<String>::new(), "{:?}", arena.situation);
    }
    let own = std::process::id();
    let children = fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap_or_default();
    let victims: Vec<String> = arenas.iter().map(|arena| arena.victim().to_string()).collect();
    assert!(
        children.split_whitespace().all(|child| victims.iter().any(|victim| victim == child)),
        "{children}"
    );
}
