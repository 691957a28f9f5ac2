//! Wrong credentials, unreachable servers, incomplete TLS: message, exit code and timeout. Against real servers.
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

/// Timeout of a command. Nothing waits longer than 10 s for a server; the rest is for a busy machine.
const COMMAND_TIMEOUT: Duration = agon_test_servers::WAIT_TIMEOUT;

/// Result of a command.
struct CommandResult {
    code: i32,
    stdout: String,
    stderr: String,
}

impl CommandResult {
    /// Checks that the command failed with this exit code, printed these words and a hint, and printed no password.
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

fn agon(words: &str, environment: &[(&str, &str)]) -> CommandResult {
    let begun = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
    command.args(words.split_whitespace()).env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    for name in ["AGON_NATS", "AGON_NATS_PASSWORD_FILE", "AGON_NATS_CA", "AGON_NATS_CREDS"] {
        command.env_remove(name);
    }
    command.envs(environment.iter().copied());
    let output = command.output().unwrap();
    assert!(begun.elapsed() < COMMAND_TIMEOUT, "agon {words} took {:?}", begun.elapsed());
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    CommandResult {
        code: output.status.code().unwrap_or(-1),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// Lists the workers, the shortest command with a server.
fn ask(url: &str, more: &str) -> CommandResult {
    agon(&format!("workers --wait 0 --nats {url} {more}"), &[])
}

/// Certificates created as docs/deploying.md describes.
struct Certificates(TempDir);

impl Certificates {
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

    /// TLS configuration of a server with these certificates.
    fn lines(&self, more: &str) -> String {
        let [cert, key, ca] = ["server.pem", "server.key", "ca.pem"].map(|name| self.path(name));
        format!("tls {{ cert_file: \"{cert}\", key_file: \"{key}\", ca_file: \"{ca}\", timeout: 5, {more} }}")
    }
}

/// The users that docs/deploying.md describes.
fn users() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/nats/users.conf");
    let mut users = fs::read_to_string(file).unwrap();
    for name in ["COORDINATOR", "SPECTATOR", "W1", "W2"] {
        users = users.replace(&format!("${name}_PASSWORD"), "\"secret\"");
    }
    users
}

#[test]
fn unreachable_nats_server_is_an_error() {
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
    // All commands print the same message.
    for words in ["worker --name w1 --wait 0 --nats", "workers --nats"] {
        agon(&format!("{words} nats://127.0.0.1:{port}"), &[]).is(3, &["no NATS server answers at"]);
    }
    // For doctor this is a negative result.
    agon(&format!("doctor --nats nats://127.0.0.1:{port}"), &[]).is(1, &["no NATS server answers at"]);
    agon("workers", &[("AGON_NATS", &format!("127.0.0.1:{port}"))])
        .is(3, &["no NATS server answers at nats://127.0.0.1"]);
}

#[test]
fn server_that_never_answers_is_a_timeout() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    ask(&format!("nats://127.0.0.1:{port}"), "")
        .is(3, &["no NATS server answers at", "(waited 5 s)", "timed out"]);
    // Two addresses share the timeout.
    ask(&format!("127.0.0.1:{port},127.0.0.1:{port}"), "").is(3, &["(waited 10 s)"]);
    // A server that answers, but is not NATS.
    std::thread::spawn(move || {
        while let Ok((mut guest, _)) = silent.accept() {
            let _ = std::io::Write::write_all(&mut guest, b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    ask(&format!("nats://127.0.0.1:{port}"), "").is(3, &["no NATS server answers at"]);
}

#[test]
fn invalid_nats_options_are_usage_errors() {
    agon("workers", &[]).is(2, &["missing NATS server", "AGON_NATS"]);
    agon("worker", &[]).is(2, &["missing NATS server"]);
    agon("workers --nats-ca ca.pem", &[]).is(2, &["NATS options without a NATS server"]);
    ask("http://127.0.0.1:1", "").is(2, &["is not a NATS server address"]);
    ask("nats://", "").is(2, &["is not a NATS server address"]);
    ask("nats://127.0.0.1:1", "--nats-ca none.pem")
        .is(2, &["none.pem: No such file", "check that the path is right"]);
    ask("nats://127.0.0.1:1", "--nats-creds none.creds").is(2, &["none.creds: cannot read credentials"]);
    ask("nats://127.0.0.1:1", "--nats-cert Cargo.toml").is(2, &["a certificate for NATS without its key"]);
    ask("nats://127.0.0.1:1", "--nats-key Cargo.toml").is(2, &["a key for NATS without its certificate"]);
    ask("nats://127.0.0.1:1", "--nats-ca Cargo.toml")
        .is(2, &["Cargo.toml: the file contains no certificate", "PEM"]);
    agon("worker --nats 127.0.0.1:1 --name a.b", &[]).is(2, &["`a.b` is not a valid worker name", "a-b"]);
    agon("worker --nats 127.0.0.1:1 --cache-size much", &[]).is(2, &["--cache-size"]);
    agon("workers --nats 127.0.0.1:1 --wait -1", &[]).is(2, &[]);
    agon("workers --nats 127.0.0.1:1", &[("AGON_NATS_PASSWORD_FILE", "none.password")])
        .is(2, &["none.password"]);
}

#[test]
fn wrong_credentials_are_rejected() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let nats = Nats::with(&users());
    let at = |who: &str| format!("nats://{who}127.0.0.1:{}", nats.port());
    let refused = format!("the NATS server at nats://127.0.0.1:{} refuses these credentials", nats.port());
    ask(&at("spectator:wrong@"), "").is(2, &[&refused, "check the user and password"]);
    ask(&at("unknown:secret@"), "").is(2, &[&refused, "check the user and password"]);
    ask(&at("spectator@"), "").is(2, &[&refused]);
    ask(&at(""), "").is(2, &[&refused, "requires a login"]);
    agon(&format!("doctor --nats {}", at("coordinator:wrong@")), &[]).is(1, &[&refused]);
    agon(&format!("worker --name w1 --nats {}", at("w1:wrong@")), &[]).is(2, &[&refused]);
    // The correct password from a file.
    let folder = common::folder_with(&[("password", "secret\n")]);
    let file = folder.path().join("password").display().to_string();
    let said =
        agon(&format!("workers --wait 0 --nats {}", at("spectator@")), &[("AGON_NATS_PASSWORD_FILE", &file)]);
    assert_eq!((said.code, said.stderr.contains("no workers connected")), (0, true), "{}", said.stderr);
}

#[test]
fn missing_permissions_are_reported() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let nats = Nats::with(&users());
    let at = |who: &str| format!("nats://{who}:secret@127.0.0.1:{}", nats.port());
    let not = |what: &str| format!("does not let this user {what}: Permissions Violation");
    // The name of another worker; the role of another user.
    agon(&format!("worker --name w2 --nats {}", at("w1")), &[]).is(2, &["w2", "Permissions Violation"]);
    agon(&format!("worker --name spectator --nats {}", at("spectator")), &[])
        .is(2, &[&not("work as spectator"), "use the name of the NATS user"]);
    ask(&at("w1"), "").is(2, &[&not("see the workers"), "docs/grid.md"]);
    // A worker that does not exist.
    ask(&at("spectator"), "--drain w9")
        .is(3, &["worker w9 does not answer: it is not connected", "agon workers"]);
}

#[test]
fn incomplete_tls_is_reported() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let (certificates, others) =
        (Certificates::new(&["127.0.0.1"]), Certificates::new(&["nats.example.org"]));
    let nats = Nats::with(&certificates.lines(""));
    let url = nats.url();
    let broken = "TLS with the NATS server at nats://127.0.0.1";
    let fine = ask(&url, &format!("--nats-ca {}", certificates.path("ca.pem")));
    assert_eq!(fine.code, 0, "{}", fine.stderr);
    // The server uses TLS, but the CA is not given, or is another one.
    ask(&url, "").is(2, &[broken, "UnknownIssuer", "use --nats-ca FILE"]);
    ask(&url, &format!("--nats-ca {}", others.path("ca.pem"))).is(2, &[broken, "this one did not sign it"]);
    // The client requires TLS, but the server has none.
    let plain = Nats::start();
    ask(&plain.url().replace("nats://", "tls://"), "")
        .is(2, &["TLS with the NATS server at tls://", "check that this server uses TLS"]);
    ask(&plain.url(), &format!("--nats-ca {}", certificates.path("ca.pem")))
        .is(2, &[broken, "check that this server uses TLS"]);
    // A certificate for another host name.
    let misnamed = Nats::with(&others.lines(""));
    ask(&misnamed.url(), &format!("--nats-ca {}", others.path("ca.pem")))
        .is(2, &[broken, "use the host name in the server's certificate"]);
}

#[test]
fn server_that_requires_a_client_certificate_rejects_others() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let (certificates, others) = (Certificates::new(&["127.0.0.1"]), Certificates::new(&["127.0.0.1"]));
    let nats = Nats::with(&certificates.lines("verify: true"));
    let [ca, cert, key] = ["ca.pem", "w1.pem", "w1.key"].map(|name| certificates.path(name));
    let fine = ask(&nats.url(), &format!("--nats-ca {ca} --nats-cert {cert} --nats-key {key}"));
    assert_eq!(fine.code, 0, "{}", fine.stderr);
    let wanted = ["TLS with the NATS server", "requires a client certificate that it trusts"];
    ask(&nats.url(), &format!("--nats-ca {ca}")).is(2, &wanted);
    let [cert, strange] = ["w1.pem", "w1.key"].map(|name| others.path(name));
    ask(&nats.url(), &format!("--nats-ca {ca} --nats-cert {cert} --nats-key {strange}")).is(2, &wanted);
    // A key that does not belong to the certificate.
    ask(&nats.url(), &format!("--nats-ca {ca} --nats-cert {cert} --nats-key {key}"))
        .is(2, &["TLS with the NATS server"]);
}

#[test]
fn doctor_tries_everything_and_leaves_nothing_behind() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let certificates = Certificates::new(&["127.0.0.1"]);
    let nats = Nats::with(&format!("{}\n{}", certificates.lines(""), users()));
    let words = |who: &str| {
        let url = format!("tls://{who}:secret@127.0.0.1:{}", nats.port());
        format!("doctor --json --nats {url} --nats-ca {}", certificates.path("ca.pem"))
    };
    let healthy = |said: &CommandResult| {
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
    // A second run works, so the first one removed everything.
    let again = agon(&words("coordinator"), &[]);
    assert!(healthy(&again)("jetstream").unwrap().contains(" 0 streams"), "{}", again.stdout);
    // A worker's user only needs the permissions of a worker.
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
fn doctor_reports_an_unsuitable_server() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let nats = Nats::with("jetstream: disabled\n");
    agon(&format!("doctor --nats {}", nats.url()), &[]).is(1, &["jetstream: ", "enable JetStream"]);
    nats.configure("max_payload: 100KB\n");
    let mut nats = nats;
    nats.restart();
    agon(&format!("doctor --nats {}", nats.url()), &[]).is(1, &["nats payload: ", "max_payload: 1MB"]);
}

/// A very short competition.
const COMPETITION: &str = r#"name = "Tiny"
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

/// Runs SQL as the owner of the database.
fn sql(url: &str, text: &str) {
    let done = Command::new("psql").args([url, "-q", "-v", "ON_ERROR_STOP=1", "-c", text]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn unreachable_or_silent_database_is_an_error() {
    let folder = common::folder_with(&[("cup.toml", COMPETITION)]);
    let file = folder.path().join("cup.toml").display().to_string();
    let port = free_port();
    let unreachable = format!("postgres://agon:secret@127.0.0.1:{port}/agon");
    agon(&format!("doctor --database {unreachable}"), &[])
        .is(1, &["database", "127.0.0.1", "Connection refused"]);
    agon(&format!("table {file} --database {unreachable}"), &[]).is(3, &["127.0.0.1", "Connection refused"]);
    agon(&format!("run {file} --database {unreachable}"), &[]).is(3, &["127.0.0.1", "Connection refused"]);
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("postgres://agon:secret@127.0.0.1:{}/agon", silent.local_addr().unwrap().port());
    agon(&format!("doctor --database {silent}"), &[]).is(1, &["database", "127.0.0.1"]);
    agon(&format!("run {file} --database {silent}"), &[]).is(3, &["127.0.0.1"]);
    agon(&format!("run {file} --database mysql://127.0.0.1/agon"), &[]).is(2, &["postgres://"]);
}

#[test]
fn wrong_database_password_or_version_is_rejected() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let folder = common::folder_with(&[("cup.toml", COMPETITION)]);
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
    // A ledger of a newer version stays unchanged.
    assert_eq!(agon(&format!("run {file} --json --database {url}"), &[]).code, 0);
    sql(
        &url,
        "DO $$ DECLARE one text; BEGIN SELECT table_schema INTO STRICT one FROM information_schema.tables WHERE table_name = 'ledger'; EXECUTE format('UPDATE %I.ledger SET version = 99', one); END $$",
    );
    for words in ["run", "table"] {
        agon(&format!("{words} {file} --database {url}"), &[])
            .is(2, &["a newer Agon", "ledger version 99", "update Agon"]);
    }
    // A user with a password, and a user with fewer permissions.
    sql(&url, "CREATE USER guest PASSWORD 'right'; REVOKE CREATE ON DATABASE agon_0 FROM PUBLIC");
    let rules =
        "local all all trust\nhost all guest 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n";
    fs::write(postgres.folder().join("data/pg_hba.conf"), rules).unwrap();
    sql(&url, "SELECT pg_reload_conf()");
    let guest = |password: &str| url.replace("agon@", &format!("guest{password}@"));
    let refused = ["the server rejected the password of user guest", "PGPASSWORD"];
    // The server reads the new rules after a short time.
    let begun = Instant::now();
    while agon(&format!("doctor --database {}", guest(":secret")), &[]).code == 0
        && begun.elapsed() < COMMAND_TIMEOUT
    {}
    agon(&format!("doctor --database {}", guest(":secret")), &[]).is(1, &refused);
    agon(&format!("run {file} --database {}", guest(":secret")), &[]).is(2, &refused);
    let denied = agon(&format!("doctor --database {}", guest("")), &[("PGPASSWORD", "right")]);
    denied.is(1, &["may start competitions", "GRANT CREATE ON DATABASE"]);
}
