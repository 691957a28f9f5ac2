//! The commands in the pages for operators are run as they are written, with real servers. Names of machines, ports and folders of the
//! system are replaced by those of the test.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod pages;
mod stage;

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use agon_test_servers::{Nats, Postgres, free_port, wait_until};
use pages::{Block, NOT_RUN, PAGES, blocks, repository};
use stage::{OWNER, Stage};

/// Whether the machine lacks a program of the pages.
#[track_caller]
fn programs_are_missing() -> bool {
    if agon_test_servers::skip_without_servers() {
        return true;
    }
    let missing = ["sqlite3", "psql", "pg_dump", "createuser", "createdb", "openssl"]
        .into_iter()
        .find(|program| Command::new(program).arg("--version").output().is_err());
    if let Some(program) = missing {
        agon_test_servers::cannot_run(agon_test_servers::Lacks::Setup, &format!("no {program}"));
    }
    missing.is_some()
}

/// The part of an output after a text, up to the end of the line.
fn after<'o>(output: &'o str, text: &str) -> &'o str {
    let (_, rest) = output.split_once(text).unwrap_or_else(|| panic!("no {text:?} in {output}"));
    rest.lines().next().unwrap()
}

/// The digest that `agon export` or `agon import` printed.
fn digest(output: &str) -> &str {
    after(output, "digest of the matches: ")
}

#[test]
fn every_block_is_run_or_listed_with_a_reason() {
    let all: Vec<Block> = PAGES.into_iter().flat_map(blocks).collect();
    for (page, text, why) in NOT_RUN {
        let matching = all.iter().filter(|block| block.page == page && block.text.contains(text)).count();
        assert_eq!(matching, 1, "{page}: {text} ({why})");
    }
    // A command in a block without a language would be neither run nor listed.
    for page in PAGES {
        let content = fs::read_to_string(repository("docs").join(page)).unwrap();
        for (number, line) in content.lines().enumerate() {
            let is_indented_command = line.starts_with("    ")
                && ["agon ", "sqlite3 ", "psql "].iter().any(|start| line.trim_start().starts_with(start));
            let in_block = all.iter().any(|block| {
                block.page == page
                    && (block.line..block.line + block.text.lines().count()).contains(&(number + 1))
            });
            assert!(in_block || !is_indented_command, "docs/{page}:{}: not in a block: {line}", number + 1);
        }
    }
    assert!(blocks("restoring.md").iter().all(|block| block.reason_not_to_run().is_none()));
}

/// The configuration of `deploy/nats`, with passwords, for a server of the test.
fn nats_configuration(stage: &Stage) -> String {
    let installed = stage.path("etc/nats");
    let read = |name: &str| fs::read_to_string(installed.join(name)).unwrap();
    let (nats, mut users) = (read("nats.conf"), read("users.conf"));
    for user in ["COORDINATOR", "SPECTATOR", "W1", "W2"] {
        users = users.replace(&format!("${user}_PASSWORD"), &format!("\"p{}\"", user.to_lowercase()));
    }
    let (_, tls) = nats.split_once("\ntls {").unwrap();
    let (tls, _) = tls.split_once('}').unwrap();
    format!("tls {{{}}}\n{users}", tls.replace("/etc/nats", installed.to_str().unwrap()))
}

/// Takes the user, the network address and folders of the test instead of those of the page.
fn replace_machine(stage: &mut Stage, port: u16) {
    let here = stage.folder().display().to_string();
    stage.replace("/etc/nats", format!("{here}/etc/nats"));
    stage.replace(" -g nats", "");
    stage.replace("nats.example.org", "localhost");
    stage.replace("localhost:4222", format!("localhost:{port}"));
    stage.replace("-js -a 127.0.0.1", format!("-js -a 127.0.0.1 -p {port} -sd {here}/jetstream"));
    stage.replace("127.0.0.1:4222", format!("127.0.0.1:{port}"));
}

#[test]
fn commands_of_deploying_md_work() {
    if programs_are_missing() {
        return;
    }
    let mut stage = Stage::new();
    replace_machine(&mut stage, free_port());
    let server = Postgres::shared();
    let database = stage.use_database(server);
    stage.replace("--pwprompt agon", format!("--pwprompt {OWNER}"));
    stage.replace(
        "--owner agon --encoding UTF8 --template template0 agon",
        format!("--owner {OWNER} --encoding UTF8 --template template0 {}", database.name),
    );
    for user in ["coordinator", "spectator", "w1"] {
        fs::write(stage.path(&format!("{user}.password")), format!("p{user}\n")).unwrap();
    }
    let (mut nats, mut worker) = (None, None);
    for block in blocks("deploying.md").iter().filter(|block| block.reason_not_to_run().is_none()) {
        let text = &*block.text;
        if text.starts_with("nats-server -js") {
            stage.script("start over", "rm -f cup.ledger*");
        } else if text.starts_with("createuser") {
            stage.script("make room", &format!("dropdb {}; dropuser --if-exists {OWNER}", database.name));
        } else if text.contains("agon doctor --nats tls://") {
            let started = Nats::with(&nats_configuration(&stage));
            stage.replace(&format!("localhost:{}", port_of(&stage)), format!("localhost:{}", started.port()));
            nats = Some(started);
        } else if text.contains("agon workers --nats") {
            let url = format!("tls://w1@localhost:{}", nats.as_ref().unwrap().port());
            let password = stage.path("w1.password");
            let variables = [("AGON_NATS_PASSWORD_FILE", password.to_str().unwrap())];
            let words = ["worker", "--name", "w1", "--nats", &url, "--nats-ca", "tls/ca.pem", "--jobs", "1"];
            worker = Some(stage.background(&words, &variables));
            stage.replace("--drain w3", "--drain w1");
            wait_until("the worker", || stage.run(block).contains("w1"));
        }
        let said = stage.run(block);
        if text.starts_with("nats-server -js") {
            assert!(said.contains("here"), "the worker is not listed: {said}");
        } else if text.starts_with("agon export") {
            let digests: Vec<&str> =
                said.lines().filter_map(|line| line.strip_prefix("digest of the matches: ")).collect();
            assert!(digests.len() == 2 && digests[0] == digests[1], "{said}");
        }
    }
    assert!(nats.is_some(), "the page has changed");
    drop(worker.expect("the page has changed"));
}

/// The port that replaces NATS' default in the commands of a page.
fn port_of(stage: &Stage) -> String {
    let said = stage.script("the port", "echo 127.0.0.1:4222");
    after(&said, "127.0.0.1:").to_owned()
}

/// Name of the schema of the competition in a database.
fn schema(stage: &Stage) -> String {
    let query = "SELECT nspname FROM pg_namespace WHERE nspname ~ '^agon_cup_'";
    stage.script("the schema", &format!("psql -At agon -c \"{query}\"")).trim().to_owned()
}

/// Plays the competition in the database of the pages, whose owner is created.
fn play_in_database(stage: &mut Stage) {
    let role =
        format!("DO $$ BEGIN CREATE ROLE {OWNER} LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$");
    stage.script(
        "a database",
        &format!(
            "psql agon -c '{role}'\npsql agon -c \"ALTER DATABASE $(psql -At agon -c 'SELECT current_database()') OWNER TO {OWNER}\"\n\
             agon run cup.toml --database postgres://agon@db.example.org/agon"
        ),
    );
    let schema = schema(stage);
    assert!(schema.starts_with("agon_cup_"), "{schema}");
    stage.replace("agon_cup_03982e2a", schema);
}

#[test]
fn commands_of_ledger_md_work() {
    if programs_are_missing() {
        return;
    }
    let mut stage = Stage::new();
    let server = Postgres::start_without_fsync();
    stage.use_database(&server);
    stage.replace(
        "agon > cup.sql",
        format!("{} > cup.sql", stage.script("name", "psql -At agon -c 'SELECT current_database()'").trim()),
    );
    play_in_database(&mut stage);
    stage.script("a reader, and a ledger", "createuser reader; agon run cup.toml");
    for block in &blocks("ledger.md") {
        if block.text.starts_with("agon export cup.toml --archive") {
            stage.script("make room", "psql agon -c 'DROP SCHEMA agon_cup_03982e2a CASCADE'");
        }
        let said = stage.run(block);
        if block.text.contains("sha256sum") {
            let exported = stage.script("an archive", "agon export cup.toml --archive again.archive");
            assert_eq!(said.split_whitespace().next(), Some(digest(&exported)));
        } else if block.text.contains("integrity_check") {
            assert_eq!(said.trim(), "ok");
        } else if block.text.contains("writefile") {
            stage.script("the record", "agon replay game.agon --verify");
        } else if block.text.contains("FROM phase;") {
            assert_eq!(said.trim(), "1|closed|24|24|0");
        }
    }
}

/// Runs the competition until some matches are stored, and kills it.
fn run_and_kill(stage: &Stage) {
    let run = stage.background(&["run", "cup.toml", "--jobs", "1", "--json"], &[]);
    let log = stage.path("run.txt");
    wait_until("some matches", || {
        fs::read_to_string(&log).unwrap_or_default().matches("\"event\":\"match\"").count() >= 4
    });
    run.kill();
}

/// Whether a server answers.
fn is_healthy(address: &str) -> io::Result<bool> {
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET /healthz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer.starts_with("HTTP/1.1 200"))
}

/// Creates the folder of a server.
fn make_server_folder(stage: &Stage) {
    let listen = format!("127.0.0.1:{}", free_port());
    let server = stage.background(&["serve", "--data", "agon-data", "--listen", &listen], &[]);
    wait_until("the server", || is_healthy(&listen).unwrap_or(false));
    server.stop();
    fs::create_dir_all(stage.path("agon-data/competitions/league")).unwrap();
    fs::write(stage.path("agon-data/competitions/league/cup.toml"), stage::COMPETITION).unwrap();
}

/// Overwrites a part of a file, as a bad disk does.
fn damage(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let end = bytes.len();
    bytes[end - 4096..].fill(0xa5);
    fs::write(path, bytes).unwrap();
}

#[test]
fn commands_of_restoring_md_work() {
    if programs_are_missing() {
        return;
    }
    let mut stage = Stage::new();
    let server = Postgres::start_without_fsync();
    let database = stage.use_database(&server);
    play_in_database(&mut stage);
    // The competition of the pages is killed while it runs, and has a copy that is played without disturbance.
    run_and_kill(&stage);
    fs::write(stage.path("whole.toml"), stage::COMPETITION).unwrap();
    stage.script("undisturbed", "agon run whole.toml");
    let table = |file: &str| stage.script("a table", &format!("agon table {file} --format json --no-times"));
    let wanted = table("whole.toml");
    make_server_folder(&stage);
    let (mut exported, mut digests) = (String::new(), Vec::new());
    for block in &blocks("restoring.md") {
        let text = &*block.text;
        if text.starts_with("mkdir broken\n") {
            damage(&stage.path("cup.ledger"));
        } else if text.starts_with("createdb") {
            stage.script("a lost database", &format!("dropdb {}", database.name));
        }
        let said = stage.run(block);
        if text.contains("backup/cup.archive") {
            if text.starts_with("agon export") {
                digest(&said).clone_into(&mut exported);
            } else {
                assert_eq!(digest(&said), exported, "{text}");
            }
        }
        if text.contains("agon run cup.toml") {
            let location = if text.contains("--database") {
                "--database postgres://agon@db.example.org/agon"
            } else {
                ""
            };
            assert_eq!(table(&format!("cup.toml {location}")), wanted, "{text}");
        }
        if text.contains("SELECT seed") {
            assert_eq!(said.trim(), "a small canvas");
        }
        if text.contains("sha256sum") || text.contains("check.archive") {
            let of_archive = text.contains("check.archive").then(|| digest(&said));
            digests.push(of_archive.unwrap_or_else(|| said.split_whitespace().next().unwrap()).to_owned());
        }
        if text.contains("tar --extract") {
            assert!(stage.path("agon-data/competitions/league/cup.toml").exists());
            make_server_folder(&stage);
        }
    }
    assert!(digests.len() == 3 && digests.iter().all(|one| *one == digests[0]), "{digests:?}");
}

#[test]
fn commands_of_grid_md_work() {
    if programs_are_missing() {
        return;
    }
    let mut stage = Stage::new();
    let nats = Nats::start();
    replace_machine(&mut stage, nats.port());
    for block in &blocks("grid.md") {
        stage.run(block);
    }
}
