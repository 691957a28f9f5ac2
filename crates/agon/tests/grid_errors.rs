//! Wrong credentials, servers that are not there, TLS that is half there: what is said, with which exit code, and how soon. Against real servers.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

#[path = "common/mod.rs"]
mod common;

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use agon_test_servers::{Nats, free_port};
use tempfile::TempDir;

/// Nothing waits longer than 10 s for a server; the rest is for machines that do something else too.
const PATIENCE: Duration = agon_test_servers::WAIT_TIMEOUT;

/// What came of a command.
struct Said {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Said {
    /// It failed with this exit code, said all of this and a hint, and gave no password away.
    #[track_caller]
    fn is(&self, code: i32, words: &[&str]) {
        let Self { stderr, stdout, .. } = self;
        assert_eq!(self.code, code, "{stdout}{stderr}");
        for word in words {
            assert!(stderr.contains(word), "`{word}` is missing in: {stderr}");
        }
        assert!(stderr.starts_with("error: ") && stderr.contains("\nhint: "), "{stderr}");
        assert!(!stderr.contains("secret") && !stdout.contains("secret"), "{stderr}");
        assert!(!stderr.contains("panicked"), "{stderr}");
    }
}

fn agon(words: &str, environment: &[(&str, &str)]) -> Said {
    let begun = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
    command.args(words.split_whitespace()).env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    for name in ["AGON_NATS", "AGON_NATS_PASSWORD_FILE", "AGON_NATS_CA", "AGON_NATS_CREDS"] {
        command.env_remove(name);
    }
    command.envs(environment.iter().copied());
    let output = command.output().unwrap();
    assert!(begun.elapsed() < PATIENCE, "agon {words} took {:?}", begun.elapsed());
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Said {
        code: output.status.code().unwrap_or(-1),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// Asks who is there: the shortest thing that can be done with a server.
fn ask(url: &str, more: &str) -> Said {
    agon(&format!("workers --wait 0 --nats {url} {more}"), &[])
}

/// Certificates as docs/deploying.md tells people to make them.
struct Papers(TempDir);

impl Papers {
    fn new(hosts: &[&str]) -> Self {
        let folder = common::folder_with(&[]);
        for (kind, names) in [("server", hosts), ("client", &["w1"][..])] {
            let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/certificates.sh");
            let made = Command::new(script).arg(folder.path()).arg(kind).args(names).output().unwrap();
            assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        }
        Self(folder)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn path(&self, name: &str) -> String {
        self.file(name).display().to_string()
    }

    /// How a server is told of them.
    fn lines(&self, more: &str) -> String {
        let [cert, key, ca] = ["server.pem", "server.key", "ca.pem"].map(|name| self.path(name));
        format!("tls {{ cert_file: \"{cert}\", key_file: \"{key}\", ca_file: \"{ca}\", timeout: 5, {more} }}")
    }
}

/// The users that we tell people to make.
fn users() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/nats/users.conf");
    let mut users = fs::read_to_string(file).unwrap();
    for name in ["COORDINATOR", "SPECTATOR", "W1", "W2"] {
        users = users.replace(&format!("${name}_PASSWORD"), "\"secret\"");
    }
    users
}

#[test]
fn nobody_is_there() {
    let port = free_port();
    let said = ask(&format!("nats://me:secret@127.0.0.1:{port}"), "");
    said.is(
        3,
        &[
            &format!("no NATS server answers at nats://127.0.0.1:{port}"),
            "Connection refused",
            "check that the server is running",
        ],
    );
    // The same words whoever asks.
    for words in ["worker --name w1 --nats", "workers --nats"] {
        agon(&format!("{words} nats://127.0.0.1:{port}"), &[]).is(3, &["no NATS server answers at"]);
    }
    // The doctor's answer is no.
    agon(&format!("doctor --nats nats://127.0.0.1:{port}"), &[]).is(1, &["no NATS server answers at"]);
    agon("workers", &[("AGON_NATS", &format!("127.0.0.1:{port}"))])
        .is(3, &["no NATS server answers at nats://127.0.0.1"]);
}

#[test]
fn somebody_is_there_and_never_answers() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    ask(&format!("nats://127.0.0.1:{port}"), "")
        .is(3, &["no NATS server answers at", "(waited 5 s)", "timed out"]);
    // Two of them: not the sum of all.
    ask(&format!("127.0.0.1:{port},127.0.0.1:{port}"), "").is(3, &["(waited 10 s)"]);
    // Something that answers, but is no NATS.
    std::thread::spawn(move || {
        while let Ok((mut guest, _)) = silent.accept() {
            let _ = std::io::Write::write_all(&mut guest, b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    ask(&format!("nats://127.0.0.1:{port}"), "").is(3, &["no NATS server answers at"]);
}

#[test]
fn what_was_given_makes_no_sense() {
    agon("workers", &[]).is(2, &["no NATS server is named", "AGON_NATS"]);
    agon("worker", &[]).is(2, &["no NATS server is named"]);
    agon("workers --nats-ca ca.pem", &[]).is(2, &["options for NATS, but no server"]);
    ask("http://127.0.0.1:1", "").is(2, &["is not a NATS server address"]);
    ask("nats://", "").is(2, &["is not a NATS server address"]);
    ask("nats://127.0.0.1:1", "--nats-ca none.pem")
        .is(2, &["none.pem: No such file", "check that the path is right"]);
    ask("nats://127.0.0.1:1", "--nats-creds none.creds").is(2, &["none.creds: cannot read credentials"]);
    ask("nats://127.0.0.1:1", "--nats-cert Cargo.toml").is(2, &["a certificate for NATS without its key"]);
    ask("nats://127.0.0.1:1", "--nats-key Cargo.toml").is(2, &["a key for NATS without its certificate"]);
    ask("nats://127.0.0.1:1", "--nats-ca Cargo.toml")
        .is(2, &["Cargo.toml: the file contains no certificate", "PEM"]);
    agon("worker --nats 127.0.0.1:1 --name a.b", &[]).is(2, &["`a.b` cannot be a worker's name", "a-b"]);
    agon("worker --nats 127.0.0.1:1 --cache-size much", &[]).is(2, &["--cache-size"]);
    agon("workers --nats 127.0.0.1:1 --wait -1", &[]).is(2, &[]);
    agon("workers --nats 127.0.0.1:1", &[("AGON_NATS_PASSWORD_FILE", "none.password")])
        .is(2, &["none.password"]);
}

#[test]
fn credentials_are_wrong() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let nats = Nats::with(&users());
    let at = |who: &str| format!("nats://{who}127.0.0.1:{}", nats.port());
    let refused = format!("the NATS server at nats://127.0.0.1:{} refuses these credentials", nats.port());
    ask(&at("spectator:wrong@"), "").is(2, &[&refused, "check the user and password"]);
    ask(&at("nobody:secret@"), "").is(2, &[&refused, "check the user and password"]);
    ask(&at("spectator@"), "").is(2, &[&refused]);
    ask(&at(""), "").is(2, &[&refused, "requires a login"]);
    agon(&format!("doctor --nats {}", at("coordinator:wrong@")), &[]).is(1, &[&refused]);
    agon(&format!("worker --name w1 --nats {}", at("w1:wrong@")), &[]).is(2, &[&refused]);
    // From a file it is right.
    let folder = common::folder_with(&[("password", "secret\n")]);
    let file = folder.path().join("password").display().to_string();
    let said =
        agon(&format!("workers --wait 0 --nats {}", at("spectator@")), &[("AGON_NATS_PASSWORD_FILE", &file)]);
    assert_eq!((said.code, said.stderr.contains("nobody is there")), (0, true), "{}", said.stderr);
}

#[test]
fn a_user_may_not_do_that() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let nats = Nats::with(&users());
    let at = |who: &str| format!("nats://{who}:secret@127.0.0.1:{}", nats.port());
    let not = |what: &str| format!("does not let this user {what}: Permissions Violation");
    // Another's name; another's part.
    agon(&format!("worker --name w2 --nats {}", at("w1")), &[]).is(2, &["w2", "Permissions Violation"]);
    agon(&format!("worker --name spectator --nats {}", at("spectator")), &[])
        .is(2, &[&not("work as spectator"), "use the name of the NATS user"]);
    ask(&at("w1"), "").is(2, &[&not("see the workers"), "docs/grid.md"]);
    // Whom there is nobody to drain.
    ask(&at("spectator"), "--drain w9")
        .is(3, &["worker w9 does not answer: it is not connected", "agon workers"]);
}

#[test]
fn tls_is_half_there() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let (papers, others) = (Papers::new(&["127.0.0.1"]), Papers::new(&["nats.example.org"]));
    let nats = Nats::with(&papers.lines(""));
    let url = nats.url();
    let broken = "TLS with the NATS server at nats://127.0.0.1";
    let fine = ask(&url, &format!("--nats-ca {}", papers.path("ca.pem")));
    assert_eq!(fine.code, 0, "{}", fine.stderr);
    // The server has TLS, we have not said who vouches for it; or named somebody else.
    ask(&url, "").is(2, &[broken, "UnknownIssuer", "use --nats-ca FILE"]);
    ask(&url, &format!("--nats-ca {}", others.path("ca.pem"))).is(2, &[broken, "this one did not sign it"]);
    // The other way round: we want TLS of a server that has none.
    let plain = Nats::start();
    ask(&plain.url().replace("nats://", "tls://"), "")
        .is(2, &["TLS with the NATS server at tls://", "check that this server uses TLS"]);
    ask(&plain.url(), &format!("--nats-ca {}", papers.path("ca.pem")))
        .is(2, &[broken, "check that this server uses TLS"]);
    // A certificate for another name.
    let misnamed = Nats::with(&others.lines(""));
    ask(&misnamed.url(), &format!("--nats-ca {}", others.path("ca.pem")))
        .is(2, &[broken, "use the host name in the server's certificate"]);
}

#[test]
fn a_server_wants_to_see_a_certificate() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let (papers, others) = (Papers::new(&["127.0.0.1"]), Papers::new(&["127.0.0.1"]));
    let nats = Nats::with(&papers.lines("verify: true"));
    let [ca, cert, key] = ["ca.pem", "w1.pem", "w1.key"].map(|name| papers.path(name));
    let fine = ask(&nats.url(), &format!("--nats-ca {ca} --nats-cert {cert} --nats-key {key}"));
    assert_eq!(fine.code, 0, "{}", fine.stderr);
    let wanted = ["TLS with the NATS server", "requires a client certificate that it trusts"];
    ask(&nats.url(), &format!("--nats-ca {ca}")).is(2, &wanted);
    let [cert, strange] = ["w1.pem", "w1.key"].map(|name| others.path(name));
    ask(&nats.url(), &format!("--nats-ca {ca} --nats-cert {cert} --nats-key {strange}")).is(2, &wanted);
    // A key that is not the certificate's.
    ask(&nats.url(), &format!("--nats-ca {ca} --nats-cert {cert} --nats-key {key}"))
        .is(2, &["TLS with the NATS server"]);
}

#[test]
fn the_doctor_tries_everything_and_leaves_nothing_behind() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let papers = Papers::new(&["127.0.0.1"]);
    let nats = Nats::with(&format!("{}\n{}", papers.lines(""), users()));
    let words = |who: &str| {
        let url = format!("tls://{who}:secret@127.0.0.1:{}", nats.port());
        format!("doctor --json --nats {url} --nats-ca {}", papers.path("ca.pem"))
    };
    let healthy = |said: &Said| {
        let document: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
        let checks = document["checks"].as_array().unwrap().clone();
        move |name: &str| {
            let check = checks.iter().find(|one| one["check"] == name);
            check.map(|one| format!("{} {}", one["health"].as_str().unwrap(), one["found"].as_str().unwrap()))
        }
    };
    let said = agon(&words("coordinator"), &[]);
    assert_eq!(said.code, 0, "{}{}", said.stdout, said.stderr);
    let check = healthy(&said);
    for name in [
        "nats",
        "nats tls",
        "nats user",
        "nats payload",
        "nats rights",
        "jetstream",
        "jetstream queue",
        "jetstream files",
    ] {
        assert!(check(name).unwrap().starts_with("ok "), "{name}: {}", said.stdout);
    }
    assert!(
        check("nats rights").unwrap().contains("coordinate, work as coordinator, see the workers"),
        "{}",
        said.stdout
    );
    // Twice: what it made is gone.
    let again = agon(&words("coordinator"), &[]);
    assert!(healthy(&again)("jetstream").unwrap().contains(" 0 streams"), "{}", again.stdout);
    // A worker's user may work, and that is enough.
    let worker = agon(&words("w1"), &[]);
    assert_eq!(worker.code, 0, "{}{}", worker.stdout, worker.stderr);
    assert!(
        healthy(&worker)("nats rights").unwrap().contains("this user may work as w1"),
        "{}",
        worker.stdout
    );
    assert!(
        healthy(&worker)("jetstream files").unwrap().starts_with("note the file stream does not exist"),
        "{}",
        worker.stdout
    );
}

#[test]
fn a_server_is_not_fit_for_it() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let nats = Nats::with("jetstream: disabled\n");
    agon(&format!("doctor --nats {}", nats.url()), &[]).is(1, &["jetstream: ", "enable JetStream"]);
    nats.configure("max_payload: 100KB\n");
    let mut nats = nats;
    nats.again();
    agon(&format!("doctor --nats {}", nats.url()), &[]).is(1, &["nats payload: ", "max_payload: 1MB"]);
}

/// A competition that is over in a moment.
const CUP: &str = r#"name = "Tiny"
game = "connect-five"
seed = "only for tests"

[[phase]]
name = "League"
format = "round-robin"

[[entrant]]
bot = "house:random"

[[entrant]]
bot = "house:tactician"
"#;

/// Says something to a database, as its owner.
fn sql(url: &str, text: &str) {
    let done = Command::new("psql").args([url, "-q", "-v", "ON_ERROR_STOP=1", "-c", text]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn a_database_is_not_there_or_says_nothing() {
    let folder = common::folder_with(&[("cup.toml", CUP)]);
    let file = folder.path().join("cup.toml").display().to_string();
    let port = free_port();
    let nobody = format!("postgres://agon:secret@127.0.0.1:{port}/agon");
    agon(&format!("doctor --database {nobody}"), &[]).is(1, &["database", "127.0.0.1", "Connection refused"]);
    agon(&format!("table {file} --database {nobody}"), &[]).is(3, &["127.0.0.1", "Connection refused"]);
    agon(&format!("run {file} --database {nobody}"), &[]).is(3, &["127.0.0.1", "Connection refused"]);
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("postgres://agon:secret@127.0.0.1:{}/agon", silent.local_addr().unwrap().port());
    agon(&format!("doctor --database {silent}"), &[]).is(1, &["database", "127.0.0.1"]);
    agon(&format!("run {file} --database {silent}"), &[]).is(3, &["127.0.0.1"]);
    agon(&format!("run {file} --database mysql://127.0.0.1/agon"), &[]).is(2, &["postgres://"]);
}

#[test]
fn a_database_does_not_let_us_in_or_is_another() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let folder = common::folder_with(&[("cup.toml", CUP)]);
    let file = folder.path().join("cup.toml").display().to_string();
    let postgres = agon_test_servers::Postgres::start();
    let url = postgres.database().url;
    let fine = agon(&format!("doctor --json --database {url}"), &[]);
    assert_eq!(fine.code, 0, "{}", fine.stderr);
    assert!(
        fine.stdout.contains("database: reachable") && fine.stdout.contains("PostgreSQL"),
        "{}",
        fine.stdout
    );
    agon(&format!("doctor --database {url}_not"), &[]).is(1, &["the database does not exist", "createdb"]);
    agon(&format!("run {file} --database {url}_not"), &[]).is(2, &["the database does not exist"]);
    // A ledger of a newer version is left alone.
    assert_eq!(agon(&format!("run {file} --json --database {url}"), &[]).code, 0);
    sql(
        &url,
        "DO $$ DECLARE one text; BEGIN SELECT table_schema INTO STRICT one FROM information_schema.tables WHERE table_name = 'ledger'; EXECUTE format('UPDATE %I.ledger SET version = 99', one); END $$",
    );
    for words in ["run", "table"] {
        agon(&format!("{words} {file} --database {url}"), &[])
            .is(2, &["a newer Agon", "ledger version 99", "update Agon"]);
    }
    // A user with a password, and one with fewer rights.
    sql(&url, "CREATE USER guest PASSWORD 'right'; REVOKE CREATE ON DATABASE agon_0 FROM PUBLIC");
    let rules =
        "local all all trust\nhost all guest 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n";
    fs::write(postgres.folder().join("data/pg_hba.conf"), rules).unwrap();
    sql(&url, "SELECT pg_reload_conf()");
    let guest = |password: &str| url.replace("agon@", &format!("guest{password}@"));
    let refused = ["the server rejected the password of user guest", "PGPASSWORD"];
    // The new rules are read in a moment, not at once.
    let begun = Instant::now();
    while agon(&format!("doctor --database {}", guest(":secret")), &[]).code == 0
        && begun.elapsed() < PATIENCE
    {}
    agon(&format!("doctor --database {}", guest(":secret")), &[]).is(1, &refused);
    agon(&format!("run {file} --database {}", guest(":secret")), &[]).is(2, &refused);
    let denied = agon(&format!("doctor --database {}", guest("")), &[("PGPASSWORD", "right")]);
    denied.is(1, &["may start competitions", "GRANT CREATE ON DATABASE"]);
}
