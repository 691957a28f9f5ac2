//! Competition files.
#![allow(clippy::unwrap_used, reason = "tests")]

use agon_league::config::{ChangeImpact, CompetitionProgress, ConfigChange, compare_configs};
use agon_league::presets::preset;
use agon_league::{CompetitionConfig, Entrant, Format};

#[test]
fn preset_of_every_game_is_valid() {
    for info in agon_games::infos() {
        let text = preset(info.id).unwrap_or_else(|| panic!("{} has none", info.id));
        let competition = CompetitionConfig::read(text).unwrap_or_else(|errors| {
            panic!("{}", errors.iter().map(|m| m.describe(info.id)).collect::<Vec<_>>().join("\n"))
        });
        assert_eq!(competition.game, info.id);
        assert!(competition.entrants.len() >= 4);
    }
}

#[test]
fn phase_is_hidden_by_default_only_if_all_play_the_same_seeds() {
    for info in agon_games::infos() {
        let competition = CompetitionConfig::read(preset(info.id).unwrap()).unwrap();
        for (number, phase) in competition.phases.iter().enumerate() {
            let same = matches!(phase.format, Format::Cross { .. });
            assert_eq!(competition.is_phase_hidden(info, number as u32), same, "{}", info.id);
            assert_eq!(same, info.id == "hide-and-seek", "{}", info.id);
        }
    }
}

#[test]
fn hidden_key_overrides_the_default() {
    let hidden_with = |game: &str, key: &str| {
        let text =
            preset(game).unwrap().replace("format = \"cross\"\n", &format!("format = \"cross\"\n{key}"));
        let text = text.replace("format = \"round-robin\"\n", &format!("format = \"round-robin\"\n{key}"));
        let competition = CompetitionConfig::read(&text).unwrap();
        let info = agon_games::infos().into_iter().find(|info| info.id == game).unwrap();
        (competition.is_phase_hidden(info, 0), competition.normalised()["phases"][0].get("hidden").cloned())
    };
    assert_eq!(hidden_with("hide-and-seek", ""), (true, None));
    assert_eq!(hidden_with("hide-and-seek", "hidden = false\n"), (false, Some(false.into())));
    assert_eq!(hidden_with("connect-five", ""), (false, None));
    assert_eq!(hidden_with("connect-five", "hidden = true\n"), (true, Some(true.into())));
}

#[test]
fn unreadable_first_phase_is_the_only_error_of_a_file_with_a_resubmission() {
    let text = preset("solitude-scramble").unwrap().replacen("\"groups\"", "\"heaps\"", 1);
    let errors = CompetitionConfig::read(&text).unwrap_err();
    let texts: Vec<String> = errors.iter().map(|error| error.describe("cup.toml")).collect();
    assert!(texts.len() == 1 && texts[0].contains("there is no format \"heaps\""), "{texts:#?}");
}

/// The messages of every broken file are in a snapshot.
#[test]
fn broken_files_give_the_expected_messages() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/broken");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let errors = CompetitionConfig::read(&text).expect_err(&name);
        assert!(!errors.is_empty(), "{name}");
        let text: Vec<String> = errors.iter().map(|error| error.describe("cup.toml")).collect();
        insta::with_settings!({omit_expression => true, prepend_module_to_snapshot => false}, {
            insta::assert_snapshot!(format!("broken_{name}"), text.join("\n\n"));
        });
        count += 1;
    }
    assert!(count >= 40, "{count}");
}

fn changed(game: &str, edits: &[(&str, &str)]) -> Vec<ConfigChange> {
    let text = preset(game).unwrap();
    let edited = edits.iter().fold(text.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    });
    let read = |text: &str| CompetitionConfig::read(text).unwrap().normalised();
    compare_configs(&read(text), &read(&edited))
}

fn describe_changes(changes: &[ConfigChange], progress: CompetitionProgress) -> Vec<String> {
    let mark = |change: &ConfigChange| if change.is_refused(progress) { "no" } else { "ok" };
    changes.iter().map(|change| format!("{}: {change}", mark(change))).collect()
}

#[test]
fn comments_and_explicit_defaults_change_nothing() {
    let edits = [("turns = 10\n", ""), ("seconds = 2 ", "seconds = 2.0 "), ("sandbox = \"required\"", "")];
    assert_eq!(changed("solitude-scramble", &edits), []);
    assert_eq!(
        changed("connect-five", &[("parts = [", "parts = [ # all\n"), ("seconds = 1 ", "seconds = 1.00 ")]),
        []
    );
}

#[test]
fn compare_configs_shows_which_changes_are_refused() {
    let edits = [
        ("name = \"Solitude Scramble\"", "name = \"Spring\"\nseed = \"x\""),
        ("matches = 100", "matches = 200"),
        ("matches = 200\n", "matches = 300\n"),
        ("seconds = 2", "seconds = 3"),
        (
            "bot = \"house:greedy\"",
            "name = \"greedy\"\nbot = \"bots/greedy\"\ncontributor = \"Ada\"\nmarks = [\"AI\"]",
        ),
        ("bot = \"house:mastermind\"", "bot = \"house:mastermind\"\n[[entrant]]\nbot = \"house:left\""),
    ];
    let changes = changed("solitude-scramble", &edits);
    insta::assert_snapshot!(
        describe_changes(&changes, CompetitionProgress { started_phases: 1, waiting_for_bots: false })
            .join("\n")
    );
    // Before the first match everything may change.
    assert!(changes.iter().all(|change| !change.is_refused(CompetitionProgress::default())));
}

#[test]
fn bot_change_is_accepted_only_while_waiting_for_new_versions() {
    let edits = [("bot = \"house:greedy\"", "name = \"greedy\"\nbot = \"bots/greedy\"")];
    let changes = changed("solitude-scramble", &edits);
    assert_eq!(changes[0].impact, ChangeImpact::NewVersion(Entrant(3)));
    let started = CompetitionProgress { started_phases: 1, waiting_for_bots: false };
    assert_eq!(
        describe_changes(&changes, started),
        ["no: entrant 4 (greedy), bot: house:greedy -> bots/greedy"]
    );
    assert!(!changes[0].is_refused(CompetitionProgress { waiting_for_bots: true, ..started }));
}

#[test]
fn phase_change_is_refused_once_the_phase_has_started() {
    let edits = [("top = 4", "top = 2"), ("letters = \"AEIRST\"", "letters = \"AEX\""), ("third = true", "")];
    let changes = changed("word-racer", &edits);
    let wanted = [
        "no: phase 1, letters: AEIRST -> AEX",
        "ok: phase 2, third: true -> false",
        "ok: phase 2, top: 4 -> 2",
    ];
    assert_eq!(
        describe_changes(&changes, CompetitionProgress { started_phases: 1, waiting_for_bots: false }),
        wanted
    );
    assert_eq!(
        describe_changes(&changes, CompetitionProgress { started_phases: 2, waiting_for_bots: false })[2],
        "no: phase 2, top: 4 -> 2"
    );
}

#[test]
fn seed_in_the_file_is_normalised_to_its_hash() {
    let text = preset("connect-five").unwrap().replace("# seed = ", "seed = ");
    let normalised = CompetitionConfig::read(&text).unwrap().normalised().to_string();
    assert!(!normalised.contains("secret phrase"), "{normalised}");
    assert!(normalised.contains("\"seed\":{\"hash\":\"sha256:"), "{normalised}");
}

#[test]
fn every_example_in_the_document_is_valid() {
    let document = include_str!("../../../docs/competition-file.md");
    let examples: Vec<&str> =
        document.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(examples.len() >= 6, "{}", examples.len());
    for example in examples {
        let describe_errors = |errors: Vec<agon_league::config::ConfigError>| {
            errors.iter().map(|error| error.describe("example")).collect::<Vec<_>>().join("\n")
        };
        CompetitionConfig::read(example).map_err(describe_errors).unwrap();
    }
}

#[test]
fn every_key_is_in_the_document() {
    let document = include_str!("../../../docs/competition-file.md");
    let texts = agon_games::infos().into_iter().filter_map(|info| preset(info.id));
    for text in texts {
        let keys =
            text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(" = "));
        for (key, _) in keys.filter(|(key, _)| key.chars().all(|c| c.is_ascii_lowercase() || c == '_')) {
            let setting =
                agon_games::infos().iter().any(|info| info.settings.iter().any(|spec| spec.name == key));
            assert!(setting || document.contains(&format!("`{key}`")), "{key}");
        }
    }
}

#[test]
fn entrant_without_name_is_named_after_its_bot() {
    let bots = [
        ("bot = \"house:random\"", "random"),
        ("bot = \"bots/Fiver.zip\"", "Fiver"),
        ("bot = \"bots/five.py:Better\"", "Better"),
        ("bot = \"./folder/\"", "folder"),
        ("bot = \"json:node bots/thinker.js --deep\"", "thinker"),
        ("git = \"https://example.org/ada/picasso.git\"", "picasso"),
        ("git = \"git@example.org:ada/monet\"", "monet"),
        ("git = \"../rothko/\"", "rothko"),
    ];
    let entrants = bots.map(|(line, _)| format!("[[entrant]]\n{line}\n")).concat();
    let text = format!("game = \"connect-five\"\n[[phase]]\nformat = \"round-robin\"\n{entrants}");
    let competition = CompetitionConfig::read(&text).unwrap();
    let names: Vec<&str> = competition.entrants.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, bots.map(|(_, name)| name));
}

#[test]
fn omitted_keys_get_the_defaults_of_the_rules() {
    let text = "game = \"connect-five\"\n[[phase]]\nformat = \"round-robin\"\n[[entrant]]\nbot = \"house:random\"\n[[entrant]]\nbot = \"house:mcts\"\n";
    let competition = CompetitionConfig::read(text).unwrap();
    let phase = &competition.phases[0];
    let parts: Vec<(u32, u32)> = phase.parts.iter().map(|part| (part.games, part.first_to)).collect();
    assert_eq!(parts, [(99, 50), (9, 5)]);
    assert_eq!(phase.parts[1].settings, [("seconds".to_owned(), "10".to_owned())]);
    insta::assert_snapshot!(format!("{:#}", competition.normalised()));
}

#[test]
fn from_players_schedules_each_pair_twice() {
    let players = ["A", "B", "C"].map(|name| (name.to_owned(), format!("players.yml#{name}")));
    let competition = CompetitionConfig::from_players(agon_games::game_info("word-racer").unwrap(), players);
    assert_eq!(competition.phases[0].format, Format::RoundRobin { legs: 1, swap: true });
    assert_eq!((competition.game, competition.entrants.len()), ("word-racer", 3));
}

/// Also with an error in every entrant.
#[test]
fn file_with_two_thousand_entrants_is_read() {
    let head = "game = \"connect-five\"\n[[phase]]\nformat = \"swiss\"\nrounds = 11\n";
    let entrant = |number: usize| format!("[[entrant]]\nname = \"Bot {number}\"\nbot = \"house:random\"\n");
    let text: String = std::iter::once(head.to_owned()).chain((0..2000).map(entrant)).collect();
    assert_eq!(CompetitionConfig::read(&text).unwrap().entrants.len(), 2000);
    assert_eq!(CompetitionConfig::read(&text.replace("house:", "hose:")).unwrap_err().len(), 2000);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(300))]

    /// A mutated file is either valid or reported with a position. Nothing panics.
    #[test]
    fn mutated_files_are_valid_or_reported_with_a_position(
        game in 0..5_usize,
        edits in proptest::collection::vec((0..4_000_usize, 0..40_usize, "[a-z0-9=\\[\\]\"'{}#,.\\n\\-é\u{1f600}\\u{1b} ]{0,12}"), 1..6),
    ) {
        let mut text: Vec<char> = preset(agon_games::infos()[game].id).unwrap().chars().collect();
        for (start, length, new) in edits {
            let start = start.min(text.len());
            let end = (start + length).min(text.len());
            text.splice(start..end, new.chars());
        }
        let text: String = text.into_iter().collect();
        if let Err(errors) = CompetitionConfig::read(&text) {
            proptest::prop_assert!(!errors.is_empty());
            for error in errors {
                let line = text.split('\n').nth(error.line - 1).unwrap();
                proptest::prop_assert!(error.column <= line.chars().count() + 1, "{error:?}");
                proptest::prop_assert!(!error.what.is_empty() && !error.hint.is_empty());
                let text = error.describe("cup.toml");
                proptest::prop_assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
            }
        }
    }
}
