//! Keys of a phase about its matches: `parts` and `letters`.

use agon_core::BotLifetime;
use agon_core::settings::closest_name;

use super::MatchPart;
use super::game::{GameContext, SettingPair};
use super::toml_reader::{Located, TomlReader};

/// Connect Five's rules: games, first to, seconds per move.
const DEFAULT_PARTS: [(u32, u32, &str); 2] = [(99, 50, "1"), (9, 5, "10")];
/// Hint for `parts`.
const PARTS_HINT: &str = "write parts = [{ games = 99, first_to = 50, seconds = 1 }]";
/// Keys of a part; all others are settings.
const PART_KEYS: [&str; 2] = ["games", "first_to"];

/// Reads `parts = [{ games = 99, first_to = 50, seconds = 1 }, ...]`; other keys are settings.
pub fn parts(fields: &TomlReader<'_>, game: &GameContext, pairs: &[&[SettingPair]]) -> Vec<MatchPart> {
    if game.info.lifetime != BotLifetime::Match {
        if fields.has("parts") {
            let what = format!("a match of {} is one game and has no parts", game.info.title);
            fields.errors.global_error(fields.key_span("parts"), what, "remove `parts`");
        }
        return Vec::new();
    }
    if !fields.has("parts") {
        let rule = |(games, first_to, seconds): (u32, u32, &str)| MatchPart {
            games,
            first_to,
            settings: vec![("seconds".to_owned(), seconds.to_owned())],
        };
        return DEFAULT_PARTS.into_iter().map(rule).collect();
    }
    let tables = fields.tables("parts", PARTS_HINT);
    if fields.is_empty_list("parts") {
        fields.errors.local_error(fields.key_span("parts"), "`parts` is empty", PARTS_HINT);
    }
    tables.iter().filter_map(|table| part(table, game, pairs)).collect()
}

fn part(part: &TomlReader<'_>, game: &GameContext, pairs: &[&[SettingPair]]) -> Option<MatchPart> {
    let elsewhere = |key: &str| closest_name(key, PART_KEYS).map(|near| format!("did you mean `{near}`?"));
    let part_settings = game.read_settings(part, &PART_KEYS, elsewhere);
    let (games, first_to) = (part.count("games", 1..=1_000_000), part.count("first_to", 1..=1_000_000));
    if !part.has("games") {
        part.missing("a part needs `games`, its maximum number of games", PARTS_HINT);
    }
    let games = games?.value;
    if let Some(first_to) = first_to.as_ref().filter(|first_to| first_to.value > games) {
        let what = format!("`first_to` is {}, but the part has only {games} games", first_to.value);
        let hint = format!("set first_to to at most {games}; more than half is {}", games / 2 + 1);
        part.errors.global_error(first_to.span.clone(), what, hint);
    }
    if !part_settings.is_empty() {
        let mut all = pairs.to_vec();
        all.push(&part_settings);
        game.merge_settings(part, part.span.clone(), &all);
    }
    Some(MatchPart {
        games,
        first_to: first_to.map_or(games / 2 + 1, |n| n.value),
        settings: part_settings.into_iter().map(|(name, at)| (name, at.value)).collect(),
    })
}

/// Reads `letters = ["A", "E"]` or `letters = "AE"`.
pub fn letters(
    fields: &TomlReader<'_>,
    game: &GameContext,
    pairs: &[&[SettingPair]],
) -> Vec<Vec<(String, String)>> {
    if !fields.has("letters") {
        return Vec::new();
    }
    let Some(spec) = game.info.settings.iter().find(|spec| spec.name == "letter") else {
        let what = format!("{} has no starting letters", game.info.title);
        fields.errors.global_error(fields.key_span("letters"), what, "remove `letters`");
        return Vec::new();
    };
    if let Some((_, at)) = pairs.iter().copied().flatten().find(|(name, _)| name == "letter") {
        let what = format!("the setting `letter` is already {}", at.value);
        fields.errors.global_error(
            fields.key_span("letters"),
            what,
            "remove `letters` or the setting `letter`",
        );
    }
    let mut texts = fields.texts("letters").unwrap_or_default();
    if let [one] = &texts[..] {
        let Located { value, span } = one.clone();
        texts = value
            .chars()
            .filter(|c| !c.is_whitespace() && *c != ',')
            .map(|c| Located::new(c.to_string(), span.clone()))
            .collect();
    }
    if fields.is_empty_list("letters") {
        fields.errors.local_error(
            fields.key_span("letters"),
            "`letters` is empty",
            "list some, or remove it to draw a letter for each game",
        );
    }
    let mut chosen: Vec<String> = Vec::new();
    for Located { value, span } in texts {
        let letter = value.to_uppercase();
        if spec.parse(&letter).is_none() {
            fields.errors.local_error(
                span,
                format!("`{value}` is not a letter from A to Z"),
                "write letters = [\"A\", \"E\"], or letters = \"AE\"",
            );
        } else if chosen.contains(&letter) {
            fields.errors.local_error(
                span,
                format!("duplicate letter {letter}"),
                "list each letter once; every pair plays it",
            );
        } else {
            chosen.push(letter);
        }
    }
    chosen.into_iter().map(|letter| vec![("letter".to_owned(), letter)]).collect()
}
