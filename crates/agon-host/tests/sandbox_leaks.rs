//! One test in a separate process: many bots leave nothing behind.

mod harness;

use std::fs;

use agon_host::sandbox::BotExit;

use harness::{Harness, Situation, processes_naming};

#[test]
fn many_bots_leave_nothing_behind() {
    let harnesses: Vec<Harness> = Situation::all().into_iter().map(Harness::new).collect();
    let play = |harness: &Harness, rounds: usize| {
        // Some end by themselves, some are killed, and each leaves a child behind.
        let code = "if os.fork() == 0: time.sleep(20)\nif sys.stdin.readline() == 'end\\n': sys.exit(3)\ntime.sleep(20)";
        let policy = harness.policy(code);
        for round in 0..rounds {
            let mut process = harness.spawn(&policy).expect("spawn");
            if round % 2 == 0 {
                std::io::Write::write_all(&mut process.take_stdin().expect("stdin"), b"end\n")
                    .expect("write");
                assert_eq!(process.wait_for(None), Some(BotExit::Exited(3)));
            }
        }
    };
    let descriptors = || fs::read_dir("/proc/self/fd").expect("list").count();
    for harness in &harnesses {
        play(harness, 1);
    }
    let before = descriptors();
    // Several threads start bots at once, as an engine does.
    std::thread::scope(|scope| {
        for harness in &harnesses {
            scope.spawn(move || play(harness, 20));
        }
    });
    assert_eq!(descriptors(), before);
    for harness in &harnesses {
        assert_eq!(processes_naming(harness), Vec::<String>::new(), "{:?}", harness.situation);
    }
    let own = std::process::id();
    let children = fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap_or_default();
    let victims: Vec<String> = harnesses.iter().map(|harness| harness.victim().to_string()).collect();
    assert!(
        children.split_whitespace().all(|child| victims.iter().any(|victim| victim == child)),
        "{children}"
    );
}
