//! Programs in the sandbox: they start, have only what they were given, and are removed completely.

mod harness;

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::time::{Duration, Instant};

use agon_host::sandbox::{BotExit, Launcher, LayerKind, Policy, SandboxError, StdStream, Streams};

use harness::{Harness, Situation, everywhere, is_root, launcher, processes_naming};

#[test]
fn program_runs_with_its_streams() {
    everywhere(|harness| {
        let policy = harness.policy(
            "line = input()\nprint('got', line, flush=True)\nprint('words', file=sys.stderr)\nsys.exit(7)",
        );
        let mut process = harness.spawn(&policy).expect("spawn");
        writeln!(process.take_stdin().expect("stdin"), "hello").expect("write");
        let mut answer = String::new();
        BufReader::new(process.take_stdout().expect("stdout")).read_line(&mut answer).expect("read");
        assert_eq!(answer, "got hello\n");
        let mut words = String::new();
        BufReader::new(process.take_stderr().expect("stderr")).read_line(&mut words).expect("read");
        assert_eq!(words, "words\n");
        assert_eq!(
            process.wait_for(Some(agon_test_servers::WAIT_TIMEOUT)),
            Some(BotExit::Exited(7)),
            "{:?}",
            harness.situation
        );
        assert!(process.layers().contains(&LayerKind::Landlock));
    });
}

#[test]
fn shell_can_start_programs() {
    everywhere(|harness| {
        let mut policy = harness.policy("");
        policy.program = "/bin/sh".into();
        policy.arguments = vec!["-c".into(), "cat own.txt | tr a-z A-Z; kill -SEGV $$".into()];
        let outcome = harness.run_policy(&policy);
        assert_eq!(outcome.stdout, "OWN", "{:?} {outcome:?}", harness.situation);
        assert_eq!(outcome.ended, BotExit::Signalled(11), "{:?}", harness.situation);
    });
}

/// Installed runtimes with threads, timers and large memory reservations.
#[test]
fn common_runtimes_start() {
    everywhere(|harness| {
        let mut policy = harness.policy(
            "import asyncio, threading\nasyncio.run(asyncio.sleep(0.01))\nt = threading.Thread(target=lambda: print('ok'))\nt.start()\nt.join()",
        );
        assert_eq!(harness.run_policy(&policy).stdout, "ok\n", "{:?}", harness.situation);
        policy.limits.address_space = None;
        policy.limits.memory = 1 << 30;
        policy.limits.processes = 64;
        for (program, arguments, says) in [
            ("/usr/bin/node", ["-e", "setTimeout(() => console.log('ok'), 5)"], "ok\n"),
            ("/usr/bin/java", ["-Xmx64m", "-version"], ""),
        ] {
            if !fs::exists(program).expect("exists") {
                continue;
            }
            policy.program = program.into();
            policy.arguments = arguments.map(Into::into).to_vec();
            let outcome = harness.run_policy(&policy);
            assert_eq!(outcome.ended, BotExit::Exited(0), "{:?} {program} {outcome:?}", harness.situation);
            assert_eq!(outcome.stdout, says, "{:?} {program} {outcome:?}", harness.situation);
        }
    });
}

#[test]
fn pid_is_the_bots_and_signals_reach_it() {
    everywhere(|harness| {
        let mut process = harness.spawn(&harness.policy("time.sleep(60)")).expect("spawn");
        let pid = process.pid().as_raw_nonzero();
        let line = fs::read(format!("/proc/{pid}/cmdline")).expect("cmdline");
        assert!(line.starts_with(b"/usr/"), "{:?}", String::from_utf8_lossy(&line));
        let state = || {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("stat");
            stat.rsplit(')').next().and_then(|rest| rest.trim().chars().next())
        };
        let is_stopped = || process.group().map_or_else(|| state() == Some('T'), |group| group.is_frozen());
        process.pause().expect("pause");
        agon_test_servers::wait_until(&format!("it is stopped, {:?}", harness.situation), is_stopped);
        process.resume().expect("resume");
        agon_test_servers::wait_until(&format!("it continues, {:?}", harness.situation), || !is_stopped());
        assert_eq!(process.try_wait(), None);
        assert_eq!(process.kill_all(), BotExit::Stopped);
        assert!(!fs::exists(format!("/proc/{pid}")).expect("exists"));
    });
}

#[test]
fn orphans_of_a_bot_are_killed() {
    everywhere(|harness| {
        // A usual daemon: two forks, its own session where that is allowed, all signals ignored.
        let policy = harness.policy(
            r#"
if os.fork() == 0:
    try: os.setsid()
    except OSError: pass
    if os.fork() == 0:
        for number in range(1, 32):
            try: signal.signal(number, signal.SIG_IGN)
            except OSError: pass
        print("daemon", flush=True)
        time.sleep(60)
    os._exit(0)
# Until the test has seen the daemon.
sys.stdin.readline()
"#,
        );
        for drop_only in [false, true] {
            let mut process = harness.spawn(&policy).expect("spawn");
            let mut stdout = BufReader::new(process.take_stdout().expect("stdout"));
            let mut line = String::new();
            stdout.read_line(&mut line).expect("read");
            assert_eq!(line, "daemon\n", "{:?}", harness.situation);
            assert!(!processes_naming(harness).is_empty());
            if !drop_only {
                std::io::Write::write_all(&mut process.take_stdin().expect("stdin"), b"end\n")
                    .expect("write");
                assert_eq!(process.wait_for(Some(agon_test_servers::WAIT_TIMEOUT)), Some(BotExit::Exited(0)));
                process.kill_all();
            }
            drop(process);
            assert_eq!(processes_naming(harness), Vec::<String>::new(), "{:?}", harness.situation);
        }
    });
}

#[test]
fn bot_ends_when_the_engine_is_killed() {
    // The engine is this test's binary, started again to run the helper below, and killed with SIGKILL.
    let program = std::env::current_exe().expect("own path");
    let harness = Harness::new(Situation::all()[0]);
    let mut engine = std::process::Command::new(program)
        .args(["--exact", "helper_engine_that_is_killed", "--ignored", "--nocapture"])
        .env("AGON_TEST_HARNESS", harness.path(""))
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("start");
    let stdout = BufReader::new(engine.stdout.take().expect("stdout"));
    let ready = stdout.lines().map_while(Result::ok).any(|line| line.contains("bots are running"));
    assert!(ready);
    assert_eq!(processes_naming(&harness).len(), Situation::all().len());
    engine.kill().expect("kill");
    engine.wait().expect("wait");
    agon_test_servers::wait_until("its bots are gone", || processes_naming(&harness).is_empty());
}

#[test]
#[ignore = "a part of another test"]
fn helper_engine_that_is_killed() {
    let Some(home) = std::env::var_os("AGON_TEST_HARNESS").map(std::path::PathBuf::from) else { return };
    let mut running = Vec::new();
    for situation in Situation::all() {
        let mut policy = Policy::new("/bin/sleep", home.join("bot")).arguments(["10"]);
        policy.program = harness::python();
        policy.arguments = ["-I", "-S", "-c", "import time; time.sleep(15)"].map(Into::into).to_vec();
        policy.arguments.push(home.join("bot").display().to_string());
        policy.without = situation.without();
        running.push(launcher(situation).spawn(&policy, Streams::default()).expect("spawn"));
    }
    println!("bots are running");
    std::thread::sleep(Duration::from_secs(15));
}

#[test]
fn environment_and_descriptors_are_clean() {
    everywhere(|harness| {
        let outcome = harness.run(
            r#"
import resource
print(sorted(k for k in os.environ if k != "LC_CTYPE"))
found = []
for fd in range(200):
    try:
        os.fstat(fd)
        found.append(fd)
    except OSError:
        pass
print(found, os.umask(0) == 0o77, resource.getrlimit(resource.RLIMIT_CORE), os.getcwd() == BOT, os.getpid() == os.getsid(0))
"#,
        );
        let expected = "['LANG', 'PATH']\n[0, 1, 2] True (0, 0) True True\n";
        assert_eq!(outcome.stdout, expected, "{:?} {outcome:?}", harness.situation);
    });
}

#[test]
fn extra_descriptors_have_the_expected_numbers() {
    everywhere(|harness| {
        let (mut ours, theirs) =
            std::io::pipe().map(|(read, write)| (BufReader::new(read), write)).expect("pipe");
        let second = fs::File::open(harness.path("other/secret.txt")).expect("open");
        let policy = harness.policy("os.write(3, os.read(4, 100) + b'\\n')");
        let streams = Streams {
            stdout: StdStream::Null,
            stderr: StdStream::Null,
            extra: vec![theirs.into(), second.into()],
            ..Streams::default()
        };
        let mut process = launcher(harness.situation).spawn(&policy, streams).expect("spawn");
        let mut line = String::new();
        ours.read_line(&mut line).expect("read");
        assert_eq!(line, "secret\n", "{:?}", harness.situation);
        assert!(process.take_stdout().is_none());
    });
}

#[test]
fn start_errors_name_the_cause() {
    everywhere(|harness| {
        let mut policy = harness.policy("");
        policy.program = harness.path("bot/missing");
        let error = harness.spawn(&policy).expect_err("no such program").to_string();
        assert!(error.contains("missing"), "{error}");
        let mut policy = harness.policy("");
        policy.folder = harness.path("nowhere");
        let error = harness.spawn(&policy).expect_err("no such folder").to_string();
        assert!(error.contains("nowhere"), "{error}");
        let mut policy = harness.policy("");
        policy.program = harness.path("bot/own.txt");
        let error = harness.spawn(&policy).expect_err("not a program").to_string();
        assert!(error.contains("own.txt"), "{error}");
        let mut policy = harness.policy("");
        policy.folder = "relative".into();
        assert!(matches!(harness.spawn(&policy), Err(SandboxError::Policy(_))));
        assert_eq!(processes_naming(harness), Vec::<String>::new());
    });
}

#[test]
fn missing_required_layer_is_named_in_the_error() {
    everywhere(|harness| {
        let mut policy = harness.policy("");
        policy.required.push(LayerKind::Cgroup);
        let launcher = Launcher::new(env!("CARGO_BIN_EXE_agon-launch")).with_test_cgroups([""; 0]);
        let error = launcher.spawn(&policy, Streams::default()).expect_err("no cgroup was given");
        assert!(error.to_string().contains("cgroup"), "{error}");
        assert!(matches!(error, SandboxError::Missing(layers) if layers.len() == 1));
        let mut policy = harness.policy("");
        policy.without.push(LayerKind::Seccomp);
        assert!(matches!(harness.spawn(&policy), Err(SandboxError::Policy(_))));
    });
}

/// Folders in which this process's cgroups are the topmost, so that a new cgroup there takes nothing away from others.
fn cgroup_folders() -> Vec<&'static str> {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let topmost = |line: &str| own.lines().any(|own| own.ends_with(line));
    let folders = [("/sys/fs/cgroup/pids", ":pids:/"), ("/sys/fs/cgroup/unified", "0::/")];
    folders
        .into_iter()
        .filter(|(path, line)| is_root() && fs::exists(path).unwrap_or(false) && topmost(line))
        .map(|(path, _)| path)
        .collect()
}

#[test]
fn cgroup_limits_processes_and_is_removed() {
    let folders = cgroup_folders();
    if !folders.contains(&"/sys/fs/cgroup/pids") {
        agon_test_servers::cannot_run(
            agon_test_servers::Lacks::Machine,
            "no cgroup of version 1 for processes, or not root",
        );
        return;
    }
    let groups = || -> Vec<String> {
        let names = folders.iter().flat_map(|folder| fs::read_dir(folder).expect("list").flatten());
        let own = format!("agon-{}-", std::process::id());
        names
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| name.starts_with(&own))
            .collect()
    };
    let harness = Harness::new(Situation::Root);
    let launcher = Launcher::new(env!("CARGO_BIN_EXE_agon-launch")).with_test_cgroups(folders.clone());
    let mut policy = harness.policy(
        "made = 0\ntry:\n    for _ in range(50):\n        if os.fork() == 0:\n            time.sleep(10)\n        made += 1\nexcept OSError: print(made, flush=True)\ntime.sleep(10)",
    );
    policy.required.push(LayerKind::Cgroup);
    policy.without = vec![LayerKind::Namespaces, LayerKind::Limits];
    policy.required.retain(|kind| !policy.without.contains(kind));
    policy.limits.processes = 7;
    let mut process = launcher.spawn(&policy, Streams::default()).expect("spawn");
    let mut line = String::new();
    BufReader::new(process.take_stdout().expect("stdout")).read_line(&mut line).expect("read");
    assert_eq!(line, "6\n");
    assert_eq!(groups().len(), folders.len());
    process.kill_all();
    assert_eq!(groups(), Vec::<String>::new());
    assert_eq!(processes_naming(&harness), Vec::<String>::new());
}

#[test]
fn probe_reports_every_layer() {
    for situation in [Situation::Root, Situation::User] {
        if situation.is_root() && !is_root() {
            agon_test_servers::cannot_run(
                agon_test_servers::Lacks::Machine,
                "its part as root: this is another user",
            );
            continue;
        }
        let layers = launcher(situation).probe().expect("probe");
        let kinds: Vec<LayerKind> = layers.iter().map(|layer| layer.kind).collect();
        assert_eq!(kinds, LayerKind::ALL);
        for layer in layers {
            println!("{situation:?} {:17} {:5} {}", layer.name(), layer.active, layer.detail);
            assert!(!layer.detail.is_empty() && !layer.what().is_empty() && !layer.how_to_get().is_empty());
        }
        let active = |kind: LayerKind| layers.iter().any(|layer| layer.kind == kind && layer.active);
        assert!(active(LayerKind::Seccomp) && active(LayerKind::Limits) && active(LayerKind::Privileges));
        assert_eq!(active(LayerKind::User), situation.is_root());
    }
}

#[test]
fn program_that_is_not_a_launcher_is_detected() {
    let launcher = Launcher::new("/bin/true");
    assert!(matches!(launcher.probe(), Err(SandboxError::Silent(_))));
    let launcher = Launcher::new("/nowhere/agon");
    assert!(matches!(launcher.probe(), Err(SandboxError::Launcher { .. })));
}

#[test]
fn starting_takes_milliseconds() {
    everywhere(|harness| {
        let mut policy = harness.policy("");
        policy.program = "/bin/true".into();
        let mut times: [Vec<Duration>; 3] = Default::default();
        for _ in 0..21 {
            let start = Instant::now();
            let mut process = harness.spawn(&policy).expect("spawn");
            times[0].push(start.elapsed());
            process.wait_for(None);
            times[1].push(start.elapsed());
            process.kill_all();
            times[2].push(start.elapsed());
        }
        for part in &mut times {
            part.sort();
        }
        let [started, ended, gone] = times.map(|part| part[10]);
        println!(
            "{:?}: /bin/true started after {started:?}, ended after {ended:?}, gone after {gone:?}",
            harness.situation
        );
        assert!(gone < Duration::from_millis(500), "{gone:?}");
    });
}
