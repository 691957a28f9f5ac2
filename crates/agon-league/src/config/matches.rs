//! What a phase says of its matches: their parts, and the letters they start with.

use agon_core::Lifetime;
use agon_core::settings::nearest;

use super::MatchPart;
use super::toml_reader::{Located, TomlReader};
use super::game::{Pair, GameContext};

/// What Connect Five's rules say: games, first to, seconds for a move.
const MATCH: [(u32, u32, &str); 2] = [(99, 50, "1"), (9, 5, "10")];
/// How parts are written.
const HINT: &str = "write parts = [{ games = 99, first_to = 50, seconds = 1 }]";
/// What a part has besides settings.
const PART_KEYS: [&str; 2] = ["games", "first_to"];

/// `parts = [{ games = 99, first_to = 50, seconds = 1 }, ...]`; what else stands there are settings.
pub fn parts(fields: &TomlReader<'_>, played: &GameContext, pairs: &[&[Pair]]) -> Vec<MatchPart> {
    if played.info.lifetime != Lifetime::Match {
        if fields.has("parts") {
            let what = format!("a match of {} is one game: it has no parts", played.info.title);
            fields.notes.unfit(fields.place("parts"), what, "leave `parts` out");
        }
        return Vec::new();
    }
    if !fields.has("parts") {
        let rule = |(games, first_to, seconds): (u32, u32, &str)| MatchPart {
            games,
            first_to,
            settings: vec![("seconds".to_owned(), seconds.to_owned())],
        };
        return MATCH.into_iter().map(rule).collect();
    }
    let tables = fields.all("parts", HINT);
    if fields.is_empty_list("parts") {
        fields.notes.wrong(fields.place("parts"), "a match without parts has no games", HINT);
    }
    tables.iter().filter_map(|table| part(table, played, pairs)).collect()
}

fn part(part: &TomlReader<'_>, played: &GameContext, pairs: &[&[Pair]]) -> Option<MatchPart> {
    let elsewhere = |key: &str| nearest(key, PART_KEYS).map(|near| format!("did you mean `{near}`?"));
    let own = played.pairs(part, &PART_KEYS, elsewhere);
    let (games, first_to) = (part.count("games", 1..=1_000_000), part.count("first_to", 1..=1_000_000));
    if !part.has("games") {
        part.missing("a part needs `games`: at most so many are played", HINT);
    }
    let games = games?.value;
    if let Some(first_to) = first_to.as_ref().filter(|first_to| first_to.value > games) {
        let what = format!("nobody can win {} of {games} games", first_to.value);
        let hint = format!("first_to is at most {games}; more than half is {}", games / 2 + 1);
        part.notes.unfit(first_to.span.clone(), what, hint);
    }
    if !own.is_empty() {
        let mut all = pairs.to_vec();
        all.push(&own);
        played.settings(part, part.span.clone(), &all);
    }
    Some(MatchPart {
        games,
        first_to: first_to.map_or(games / 2 + 1, |n| n.value),
        settings: own.into_iter().map(|(name, at)| (name, at.value)).collect(),
    })
}

/// `letters = ["A", "E"]`, or `letters = "AE"`.
pub fn letters(fields: &TomlReader<'_>, played: &GameContext, pairs: &[&[Pair]]) -> Vec<Vec<(String, String)>> {
    if !fields.has("letters") {
        return Vec::new();
    }
    let Some(spec) = played.info.settings.iter().find(|spec| spec.name == "letter") else {
        let what = format!("{} has no starting letters", played.info.title);
        fields.notes.unfit(fields.place("letters"), what, "leave `letters` out");
        return Vec::new();
    };
    if let Some((_, at)) = pairs.iter().copied().flatten().find(|(name, _)| name == "letter") {
        let what = format!("the letter is set to {} already", at.value);
        fields.notes.unfit(fields.place("letters"), what, "keep `letters`, or the setting `letter`");
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
        fields.notes.wrong(
            fields.place("letters"),
            "`letters` is empty",
            "name some, or leave it out: then each game draws its own",
        );
    }
    let mut chosen: Vec<String> = Vec::new();
    for Located { value, span } in texts {
        let letter = value.to_uppercase();
        if spec.parse(&letter).is_none() {
            fields.notes.wrong(
                span,
                format!("`{value}` is no letter from A to Z"),
                "write letters = [\"A\", \"E\"], or letters = \"AE\"",
            );
        } else if chosen.contains(&letter) {
            fields.notes.wrong(
                span,
                format!("the letter {letter} is there twice"),
                "each letter once: it is played by every pair anyway",
            );
        } else {
            chosen.push(letter);
        }
    }
    chosen.into_iter().map(|letter| vec![("letter".to_owned(), letter)]).collect()
}
