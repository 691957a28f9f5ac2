//! The example files of `deploy/` are valid: a copy of them starts.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value as Json;

fn deploy(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy").join(name)
}

fn read(name: &str) -> String {
    fs::read_to_string(deploy(name)).unwrap()
}

fn agon(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_agon")).args(words).output().unwrap()
}

/// Checks that `agon` knows all options of this command line.
fn understood(words: &[String]) {
    let help = agon(&[&words[0], "--help"]);
    assert!(help.status.success(), "agon {}", words[0]);
    let help = String::from_utf8(help.stdout).unwrap();
    for option in words.iter().filter(|word| word.starts_with("--")) {
        let known = help.split_whitespace().any(|word| word == option);
        assert!(known, "agon {} does not know {option}", words[0]);
    }
}

#[test]
fn nats_server_accepts_the_configuration() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let made = Command::new(deploy("certificates.sh"))
        .arg(folder.path().join("tls"))
        .args(["server", "nats.example.org", "10.0.0.5", "fd00::1"])
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let here = folder.path().display().to_string();
    for name in ["nats.conf", "local.conf", "users.conf"] {
        let text = read(&format!("nats/{name}")).replace("/etc/nats/tls", &format!("{here}/tls"));
        fs::write(
            folder.path().join(name),
            text.replace("/var/lib/nats", &here).replace("\"/data\"", &format!("\"{here}\"")),
        )
        .unwrap();
    }
    let tried = |name: &str, passwords: &[&str]| {
        let program = agon_test_servers::nats_server();
        let mut command = Command::new(program);
        command.arg("-t").arg("-c").arg(folder.path().join(name));
        for user in passwords {
            command.env(format!("{user}_PASSWORD"), "p1234");
        }
        command.output().unwrap()
    };
    let users = ["COORDINATOR", "SPECTATOR", "W1", "W2"];
    for name in ["nats.conf", "local.conf"] {
        let output = tried(name, &users);
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        // A missing password is an error, not an empty password.
        assert!(!tried(name, &users[1..]).status.success(), "{name}");
    }
}

/// Arguments of `ExecStart=`, without the program.
fn started(unit: &str) -> Vec<String> {
    let line = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    assert!(line.starts_with("/usr/local/bin/agon ") || line.starts_with("%h/.local/bin/agon "), "{line}");
    line.split_whitespace().skip(1).map(str::to_owned).collect()
}

#[test]
fn drop_in_makes_the_unit_of_nats_server_use_the_configuration() {
    let Ok(unit) = fs::read_to_string("/lib/systemd/system/nats-server.service") else {
        return agon_test_servers::cannot_run(
            agon_test_servers::Lacks::Machine,
            "no nats-server.service: nats-server was not installed as a package",
        );
    };
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::write(folder.path().join("nats-server.service"), unit).unwrap();
    fs::create_dir(folder.path().join("nats-server.service.d")).unwrap();
    let drop_in = read("systemd/nats-server.service.d/agon.conf");
    fs::write(folder.path().join("nats-server.service.d/agon.conf"), &drop_in).unwrap();
    assert!(drop_in.contains("\nExecStart=\nExecStart=/usr/sbin/nats-server -c /etc/nats/nats.conf\n"));
    let analyzed =
        Command::new("systemd-analyze").arg("verify").arg(folder.path().join("nats-server.service")).output();
    match analyzed {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && !said.contains("agon.conf"), "{said}");
        }
        Err(error) => {
            agon_test_servers::cannot_run(
                agon_test_servers::Lacks::Machine,
                &format!("systemd-analyze: {error}"),
            );
        }
    }
}

/// Options that would remove layers of the bots' sandbox: namespaces, host name, `/proc`, seccomp filters.
const NOT_FOR_US: [&str; 10] = [
    "RestrictNamespaces",
    "PrivateUsers",
    "SystemCallFilter",
    "ProtectProc",
    "ProcSubset",
    "ProtectHostname",
    "ProtectKernelTunables",
    "ProtectKernelLogs",
    "ProtectControlGroups",
    "MemoryDenyWriteExecute",
];

#[test]
fn systemd_units_are_valid() {
    for path in [
        "agon-server.service",
        "agon-worker@.service",
        "user/agon-server.service",
        "user/agon-worker.service",
    ] {
        let unit = read(&format!("systemd/{path}"));
        for wrong in NOT_FOR_US {
            assert!(!unit.contains(&format!("\n{wrong}=")), "{path}: {wrong}");
        }
        assert!(unit.contains("\nDelegate=yes\n"), "{path}: bots have no group");
        understood(&started(&unit));
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let name = path.rsplit('/').next().unwrap();
        let file = folder.path().join(name);
        let program = env!("CARGO_BIN_EXE_agon");
        fs::write(&file, unit.replace("/usr/local/bin/agon", program).replace("%h/.local/bin/agon", program))
            .unwrap();
        match Command::new("systemd-analyze").arg("verify").arg(&file).output() {
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success() && !said.contains(name), "{said}");
            }
            Err(error) => {
                agon_test_servers::cannot_run(
                    agon_test_servers::Lacks::Machine,
                    &format!("systemd-analyze: {error}"),
                );
            }
        }
    }
}

#[test]
fn compose_file_is_valid() {
    let compose: Json = serde_saphyr::from_str(&read("compose.yaml")).unwrap();
    let services: BTreeMap<&str, &Json> =
        compose["services"].as_object().unwrap().iter().map(|(name, service)| (&**name, service)).collect();
    let names: Vec<&str> = services.keys().copied().collect();
    assert_eq!(names, ["nats", "postgres", "server", "w1", "w2"]);
    let (users, example) = (read("nats/users.conf"), read(".env.example"));
    for (name, service) in &services {
        // Everything that a service mounts, waits for or uses exists.
        for wanted in service["depends_on"].as_object().into_iter().flat_map(|wanted| wanted.keys()) {
            assert!(services.contains_key(&**wanted), "{name} depends on {wanted}, which does not exist");
        }
        for volume in service["volumes"].as_array().into_iter().flatten() {
            let from = volume.as_str().unwrap().split(':').next().unwrap();
            let there = compose["volumes"].get(from).is_some() || deploy(from).exists();
            assert!(there, "{name} mounts {from}, which does not exist");
        }
        for asked in service.to_string().split("${").skip(1) {
            let variable = asked.split([':', '}']).next().unwrap();
            assert!(
                example.contains(&format!("\n{variable}=")),
                "{name} uses {variable}, which is not in the example"
            );
        }
        let Some(command) = service["command"].as_array().filter(|_| *name != "nats") else { continue };
        let words: Vec<String> = command.iter().map(|word| word.as_str().unwrap().to_owned()).collect();
        understood(&words);
        let url = service["environment"]["AGON_NATS"].as_str().unwrap();
        let user = url.trim_start_matches("nats://").split(':').next().unwrap();
        assert!(users.contains(&format!("user: \"{user}\"")), "{name}: the user {user} does not exist");
        if words[0] == "worker" {
            assert_eq!((words[1].as_str(), words[2].as_str()), ("--name", user));
        }
    }
}

#[test]
fn certificates_are_issued_for_the_given_hosts() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let make = |words: &[&str]| {
        Command::new(deploy("certificates.sh")).arg(folder.path()).args(words).output().unwrap()
    };
    for wrong in [
        &["server"][..],
        &["other", "x"],
        &["client", "../x"],
        &["client", "ca"],
        &["server", "a b"],
        &["server", "a,DNS:b"],
    ] {
        let output = make(wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("hint: "), "{wrong:?}");
    }
    assert!(make(&["server", "nats.example.org", "10.0.0.5"]).status.success());
    let authority = fs::read(folder.path().join("ca.pem")).unwrap();
    assert!(make(&["client", "w1"]).status.success());
    // The authority is created once.
    assert_eq!(fs::read(folder.path().join("ca.pem")).unwrap(), authority);
    for (name, purpose) in [("server", "sslserver"), ("w1", "sslclient")] {
        let verified = Command::new("openssl")
            .args(["verify", "-purpose", purpose, "-CAfile"])
            .arg(folder.path().join("ca.pem"))
            .arg(folder.path().join(format!("{name}.pem")))
            .output()
            .unwrap();
        assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
        let mode = std::os::unix::fs::PermissionsExt::mode(
            &fs::metadata(folder.path().join(format!("{name}.key"))).unwrap().permissions(),
        );
        assert_eq!(mode & 0o077, 0);
    }
}
