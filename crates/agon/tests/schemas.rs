//! Every `--json` document has a schema in `docs/schemas`, and fits it. The helpers in `common` check the output of all other tests too.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::collections::BTreeSet;
use std::fs;

use common::schema::{check_document, folder, schema, validate};
use common::{agon, folder_with};
use serde_json::{Value as Json, json};

const BOT: &str = "class Bot:\n    def get_move(self, board, player, T, N):\n        return next(c for c in range(9) if not board[0][c])\n";

/// Kinds that need servers or take long. Other tests check them: `cluster.rs` and `grid_users.rs` (`workers`, `drained`), `serving.rs` (`submission`,
/// `demo`).
const WITH_SERVERS: [&str; 4] = ["workers", "drained", "submission", "demo"];

#[test]
fn output_of_every_command_fits_its_schema() {
    let folder = folder_with(&[("Bot.py", BOT)]);
    let commands = [
        "games --json",
        "games connect-five --json",
        "bots connect-five --json",
        "show connect-five --json",
        "new connect-five mine --json",
        "play connect-five Bot.py house:random --games 2 --seed 7 --record a.agon --logs logs --json",
        "check connect-five Bot.py --json",
        "trial connect-five Bot.py --games 1 --profile a.prof --json",
        "compare connect-five house:tactician house:stacker --elo1 50 --seed 7 --json",
        "compare solitude-scramble house:left house:greedy --elo1 100 --seed 7 --json",
        "debug a.agon --seat 0 --game 1 --json",
        "debug a.agon --seat 0 --game 2 --turn 2 --json",
        "replay a.agon --json",
        "replay a.agon --json --frames",
        "init connect-five cup.toml --json",
        "run cup.toml --json",
        "table cup.toml --format json",
        "export cup.toml exported --archive cup.archive --json",
        "import cup.archive --to other.ledger --json",
        "report cup.toml pages --json",
        "update cup.toml --json",
        "doctor --json",
    ];
    let mut kinds = BTreeSet::new();
    for words in commands {
        if words.starts_with("run ") {
            // Short: the preset is a competition of many games.
            let competition = "name = \"Cup\"\ngame = \"connect-five\"\n\n[[phase]]\nname = \"League\"\nformat = \"round-robin\"\n\n\
                               [[entrant]]\nbot = \"house:random\"\n\n[[entrant]]\nbot = \"house:stacker\"\n";
            fs::write(folder.path().join("cup.toml"), competition).unwrap();
        }
        let output = agon(folder.path(), &words.split(' ').collect::<Vec<_>>()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code().is_some_and(|code| code < 2), "agon {words}: {said}");
        let text = String::from_utf8(output.stdout).unwrap();
        let documents: Vec<Json> =
            serde_json::Deserializer::from_str(&text).into_iter().collect::<Result<_, _>>().unwrap();
        assert!(!documents.is_empty(), "agon {words} prints nothing");
        for document in &documents {
            check_document(document);
            kinds.insert(document["agon"].as_str().unwrap_or("run").to_owned());
        }
    }
    kinds.extend(WITH_SERVERS.map(str::to_owned));
    let written: BTreeSet<String> = fs::read_dir(common::schema::folder())
        .unwrap()
        .filter_map(|entry| entry.unwrap().path().file_stem().map(|stem| stem.to_string_lossy().into_owned()))
        .filter(|name| name != "README")
        .collect();
    assert_eq!(kinds, written, "each schema is checked, and each document has a schema");
}

#[test]
fn document_that_does_not_fit_is_found() {
    let wrong = |document: Json| {
        let mut errors = Vec::new();
        validate("bots", &schema("bots"), &document, &mut errors);
        errors
    };
    let bot = json!({"name": "a", "roles": ["player"], "thinks": "no"});
    let with = |bots: Json| json!({"agon": "bots", "version": 1, "game": "connect-five", "bots": bots});
    assert!(wrong(with(json!([bot]))).is_empty());
    assert_eq!(wrong(with(json!([{"name": "a", "roles": []}]))).len(), 1, "a key is missing");
    assert_eq!(wrong(with(json!([{"name": 1, "roles": [], "thinks": ""}]))).len(), 1, "a type is wrong");
    assert_eq!(
        wrong(with(json!([{"name": "", "roles": [], "thinks": "", "new": 1}]))).len(),
        1,
        "not described"
    );
    assert_eq!(
        wrong(json!({"agon": "bots", "version": 2, "game": "", "bots": []})).len(),
        1,
        "another version"
    );
}

#[test]
fn every_schema_is_json_with_a_title() {
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "json") {
            let text = fs::read_to_string(&path).unwrap();
            let schema: Json = serde_json::from_str(&text).unwrap();
            assert!(schema["title"].is_string() && schema["$schema"].is_string(), "{}", path.display());
        }
    }
}
