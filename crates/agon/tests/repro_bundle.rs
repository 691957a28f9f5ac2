//! A repro bundle from the server: the command in it reproduces the fault.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;
#[path = "../../agon-server/tests/common/mod.rs"]
mod site;

use std::fs;
use std::io::{Cursor, Read as _};

use agon_site_db::{CompetitionState, Role};
use common::{agon, folder_with, good};
use site::Site;
use site::competition::played;

/// Counts its moves over the games of a match, draws from its seed, prints, and fails at its third move of game 2.
const COUNTER: &str = "import random

class Counter:
    asked = late = 0

    def get_move(self, board, player, T, N):
        self.asked += 1
        self.late += N
        print('asked', self.asked)
        if self.late == 3:
            raise ValueError('three is too much')
        free = [c for c in range(9) if not board[0][c]]
        return free[(self.asked + random.randrange(9)) % len(free)]
";

const COMPETITION: &str = r#"name = "Cup"
game = "connect-five"
seed = "a cup's seed"
sandbox = "off"

[[phase]]
format = "round-robin"
parts = [{ games = 4, seconds = 1 }]

[[phase]]
format = "round-robin"
resubmit = true
parts = [{ games = 4, seconds = 1 }]

[[entrant]]
name = "Counter"
bot = "Counter.py"

[[entrant]]
bot = "house:random"
"#;

#[test]
fn command_in_a_repro_bundle_reproduces_the_fault() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let zip = runtime.block_on(async {
        let site = Site::new().await;
        let file = site.competition_file("cup");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file.with_file_name("Counter.py"), COUNTER).unwrap();
        fs::write(&file, COMPETITION).unwrap();
        played(&file);
        let author = site.person("author", Role::Author).await;
        site.host("cup", CompetitionState::Waiting, &[("Counter", author.id)]).await;
        let bot = author.get("competitions/cup").await.json["entrants"][0]["bot"].as_i64().unwrap();
        let faults = author.get(&format!("competitions/cup/bots/{bot}/faults")).await.json;
        let fault = &faults["items"][0];
        assert_eq!((&fault["fault"], &fault["game"]), (&"crash".into(), &2.into()), "{faults}");
        let capsule = author.get(fault["capsule"].as_str().unwrap()).await;
        assert_eq!((capsule.status.as_u16(), capsule.header("content-type")), (200, "application/zip"));
        assert!(capsule.header("content-disposition").starts_with("attachment; filename=\"cup-1-"));
        capsule.bytes
    });
    let home = folder_with(&[("Counter.py", COUNTER)]);
    let mut zip = zip::ZipArchive::new(Cursor::new(zip)).unwrap();
    for number in 0..zip.len() {
        let mut file = zip.by_index(number).unwrap();
        let name = file.name().unwrap().rsplit('/').next().unwrap().to_owned();
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        fs::write(home.path().join(name), bytes).unwrap();
    }
    let log = fs::read_to_string(home.path().join("log.txt")).unwrap();
    assert!(log.contains("--- turn ") && log.contains("asked "), "{log}");
    let readme = fs::read_to_string(home.path().join("README.txt")).unwrap();
    assert!(readme.contains("three is too much"), "{readme}");
    let command = readme.lines().find_map(|line| line.strip_prefix("    agon ")).unwrap();
    let words: Vec<&str> =
        command.split(' ').map(|word| if word == "BOT" { "Counter.py" } else { word }).collect();
    assert!(command.contains("--game 2") && command.contains("--turn "), "{command}");
    let said = good(&agon(home.path(), &words).output().unwrap());
    assert!(said.contains("now (same)") && said.contains("ValueError: three is too much"), "{said}");
    // All answers in both games are the same again, and the other command works too.
    let whole: Vec<&str> = words.iter().copied().take_while(|word| *word != "--turn").collect();
    assert!(good(&agon(home.path(), &whole).output().unwrap()).contains("in 2 games of the match"));
    good(&agon(home.path(), &["replay", "game.agon", "--verify"]).output().unwrap());
}
