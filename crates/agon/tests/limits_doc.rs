//! `docs/limits.md` and `agon games GAME` list every limit of a bot, with the values that bots are started with.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::path::Path;

use agon_host::bot_limits::bot_limits;

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/limits.md");
    fs::read_to_string(path).unwrap()
}

/// The cells of a row whose first cell is this text.
fn row<'p>(page: &'p str, first: &str) -> Option<Vec<&'p str>> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    rows.map(|row| row.split(" | ").collect::<Vec<_>>()).find(|cells| cells[0] == first)
}

#[test]
fn page_has_the_limits_of_every_game() {
    let page = page();
    for game in agon_games::infos() {
        let clock = row(&page, game.title).unwrap_or_else(|| panic!("no row for {}", game.title));
        assert_eq!(clock[1], game.clock, "clock of {}", game.title);
        let limits = bot_limits(game);
        for limit in &limits {
            let cells = row(&page, limit.name).unwrap_or_else(|| panic!("no row for {:?}", limit.name));
            // A cell may list the values of several games.
            let is_listed = |value: &str| cells[1].split("; ").any(|own| own.starts_with(value));
            assert!(
                limit.limit.split("; ").all(is_listed),
                "{}: {:?} is {:?}, the page says {:?}",
                game.title,
                limit.name,
                limit.limit,
                cells[1]
            );
        }
    }
    let data = agon_bots::source::overlay_dir::MAX_DATA_BYTES >> 20;
    assert_eq!(row(&page, "`data/` of Connect Five").unwrap()[1], format!("{data} MiB"));
}

#[test]
fn games_lists_the_same_limits() {
    for game in agon_games::infos() {
        let text = common::stdout(&format!("games {}", game.id));
        let json = common::json(&format!("games {} --json", game.id));
        for (at, limit) in bot_limits(game).iter().enumerate() {
            assert!(text.contains(&format!("  {}: {} (", limit.name, limit.limit)), "{text}");
            assert_eq!(json["limits"][at]["limit"], limit.limit.as_str(), "{json}");
        }
    }
}
