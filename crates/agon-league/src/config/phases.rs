//! The `[[phase]]` tables.

use std::collections::HashMap;

use agon_core::settings::nearest;
use agon_core::{Lifetime, Settings};

use super::entrants::{ParsedEntrant, nearest_name};
use super::toml_reader::{Located, TomlReader};
use super::game::{Pair, GameContext};
use super::matches::{letters, parts};
use super::read::{TOP, top_key};
use super::{PhaseConfig, StopRule};
use crate::format::{Format, TieRule};
use crate::result::Entrant;

/// Keys of every phase.
const KEYS: [&str; 9] =
    ["name", "format", "stop", "most", "parts", "letters", "settings", "resubmit", "hidden"];
/// Formats, and the keys of each.
pub const FORMATS: [(&str, &[&str]); 8] = [
    ("groups", &["size", "matches"]),
    ("arena", &["games"]),
    ("round-robin", &["legs", "swap"]),
    ("cross", &["boards"]),
    ("swiss", &["rounds", "swap"]),
    ("knockout", &["top", "pairs", "extra", "third", "seeding"]),
    ("double-elimination", &["top", "pairs", "extra", "seeding"]),
    ("gauntlet", &["challengers", "games", "swap"]),
];
/// What people call formats elsewhere.
const ALSO: [(&str, &str); 9] = [
    ("league", "round-robin"),
    ("home-and-away", "round-robin"),
    ("roundrobin", "round-robin"),
    ("elimination", "knockout"),
    ("single-elimination", "knockout"),
    ("cup", "knockout"),
    ("random", "groups"),
    ("arenas", "groups"),
    ("seekers-and-hiders", "cross"),
];
/// More than anybody can play.
pub const MOST: u64 = 1_000_000_000;
/// A phase, and where it stands.
pub struct ParsedPhase<'f> {
    pub phase: PhaseConfig,
    pub fields: TomlReader<'f>,
}

/// Reads them all. One that is wrong is left out, or has defaults in the place of what is wrong.
pub fn read<'f>(
    tables: &[TomlReader<'f>],
    top: &TomlReader<'f>,
    played: Option<&GameContext>,
    base: &[Pair],
    listed: &[ParsedEntrant],
) -> Vec<ParsedPhase<'f>> {
    if tables.is_empty() && !top.meant("phase", &TOP) {
        let formats: Vec<&str> = FORMATS.iter().map(|(name, _)| *name).collect();
        let hint = format!("add a line [[phase]], and below it format = one of {}", formats.join(", "));
        top.missing("nothing is played: there is no phase", hint);
    }
    let mut planned = Vec::new();
    let mut names: HashMap<String, usize> = HashMap::new();
    for (number, table) in tables.iter().enumerate() {
        let name = table.name("name");
        let place = name.as_ref().map_or_else(|| table.span.clone(), |name| name.span.clone());
        let name = name.map_or_else(|| format!("Phase {}", number + 1), |name| name.value);
        if let Some(line) = names.insert(name.to_lowercase(), top.notes.line(place.start)) {
            let what = format!("the name {name} is taken: line {line} has it");
            top.notes.unfit(place, what, "give each phase a name of its own");
        }
        if let Some(phase) = phase(table, name, played, base, listed) {
            planned.push(ParsedPhase { phase, fields: table.clone() });
        }
    }
    planned
}

fn phase(
    fields: &TomlReader<'_>,
    name: String,
    played: Option<&GameContext>,
    base: &[Pair],
    listed: &[ParsedEntrant],
) -> Option<PhaseConfig> {
    let format = format(fields, played, listed);
    let stop = stop(fields);
    let resubmit = fields.flag("resubmit").is_some_and(|flag| flag.value);
    let hidden = fields.flag("hidden").map(|flag| flag.value);
    let played = played?;
    let own = fields
        .below("settings", "write settings = { name = value }, or [phase.settings] on a line of its own");
    let pairs = own.as_ref().map_or_else(Vec::new, |own| played.pairs(own, &[], |_| None));
    let place = own.map_or_else(|| fields.span.clone(), |own| own.span);
    let settings = if pairs.is_empty() {
        let base = base.iter().map(|(name, at)| (name.as_str(), at.value.as_str()));
        Settings::parse(played.info.settings, base)
            .unwrap_or_else(|_| Settings::defaults(played.info.settings))
    } else {
        played.settings(fields, place, &[base, &pairs])
    };
    let parts = parts(fields, played, &[base, &pairs]);
    let variants = letters(fields, played, &[base, &pairs]);
    Some(PhaseConfig { name, format: format?, stop, parts, variants, settings, resubmit, hidden })
}

fn format(fields: &TomlReader<'_>, played: Option<&GameContext>, listed: &[ParsedEntrant]) -> Option<Format> {
    let names: Vec<&'static str> = FORMATS.iter().map(|(name, _)| *name).collect();
    let chosen = chosen(fields, &names);
    let all_keys = || FORMATS.iter().flat_map(|(_, keys)| keys.iter().copied());
    let own = chosen.map_or_else(|| all_keys().collect(), |name| keys_of(name).to_vec());
    let known: Vec<&'static str> = KEYS.into_iter().chain(own.iter().copied()).collect();
    fields.finish(&known, |key| {
        if let (Some(name), true) = (chosen, all_keys().any(|other| other == key)) {
            return Some(format!("the format {name} takes {}", own.join(", ")));
        }
        match key {
            "first_to" | "seconds" if played.is_some_and(|p| p.info.lifetime == Lifetime::Match) => Some(
                format!("`{key}` belongs to a part: parts = [{{ games = 99, first_to = 50, seconds = 1 }}]"),
            ),
            _ if played.is_some_and(|played| played.has_setting(key)) => {
                Some(format!("a setting of one phase is written settings = {{ {key} = ... }}"))
            }
            _ => top_key(key),
        }
    });
    let swap = || fields.flag("swap").is_some_and(|flag| flag.value);
    let whole = |key: &str, default: u64| fields.whole(key, 1..=MOST).map_or(default, |n| n.value);
    let count = |key: &str, range, default: u32| fields.count(key, range).map_or(default, |n| n.value);
    Some(match chosen? {
        "groups" => {
            let (size, matches) = (size(fields, played), whole("matches", 100));
            Format::Groups { size: size?, matches }
        }
        "arena" => Format::Arena { games: whole("games", 1000) },
        "round-robin" => Format::RoundRobin { legs: count("legs", 1..=10_000, 1), swap: swap() },
        "cross" => Format::Cross { boards: whole("boards", 100) },
        "swiss" => {
            if !fields.has("rounds") {
                fields.missing(
                    "a swiss phase needs `rounds`",
                    "about as many as it takes to halve the field to one: 5 for 32, 7 for 128",
                );
            }
            Format::Swiss { rounds: count("rounds", 1..=10_000, 1), swap: swap() }
        }
        "knockout" => Format::Knockout(ties(fields)),
        "double-elimination" => Format::DoubleElimination(ties(fields)),
        _ => Format::Gauntlet {
            challengers: challengers(fields, listed),
            games: whole("games", 1),
            swap: swap(),
        },
    })
}

/// The keys of a format.
pub fn keys_of(format: &str) -> &'static [&'static str] {
    FORMATS.iter().find(|(name, _)| *name == format).map_or(&[], |(_, keys)| keys)
}

fn chosen(fields: &TomlReader<'_>, names: &[&'static str]) -> Option<&'static str> {
    let all = format!("the formats are {}", names.join(", "));
    if !fields.has("format") {
        if !fields.meant("format", &KEYS) {
            fields.missing("this phase has no `format`", format!("add format = \"...\"; {all}"));
        }
        return None;
    }
    let text = fields.text("format")?;
    if let Some(name) = names.iter().find(|name| **name == text.value) {
        return Some(name);
    }
    let asked = text.value.to_lowercase().replace([' ', '_'], "-");
    let also = ALSO.iter().map(|(other, _)| *other);
    let near = nearest(&asked, names.iter().copied().chain(also));
    let hint = near.map_or(all, |near| match ALSO.iter().find(|(other, _)| *other == near) {
        Some((_, ours)) => format!("here it is called \"{ours}\""),
        None => format!("did you mean \"{near}\"?"),
    });
    fields.notes.wrong(text.span, format!("there is no format \"{}\"", text.value), hint);
    None
}

/// How many play a match: what the game says, if there is no choice.
fn size(fields: &TomlReader<'_>, played: Option<&GameContext>) -> Option<u32> {
    let fixed =
        played.map(|p| p.info.seats).filter(|seats| seats.min == seats.max).map(|seats| seats.min as u32);
    if fields.has("size") {
        return fields.count("size", 2..=1000).map(|size| size.value);
    }
    if fixed.is_none() && played.is_some() {
        let hint = "say how many play a match, such as size = 20";
        fields.missing("groups of how many? there is no `size`", hint);
    }
    fixed
}

fn ties(fields: &TomlReader<'_>) -> TieRule {
    TieRule {
        top: fields.count("top", 2..=1_000_000).map(|top| top.value),
        pairs: fields.count("pairs", 1..=10_000).map_or(1, |pairs| pairs.value),
        extra: fields.count("extra", 0..=10_000).map_or(3, |extra| extra.value),
        third: fields.flag("third").is_some_and(|third| third.value),
    }
}

fn challengers(fields: &TomlReader<'_>, listed: &[ParsedEntrant]) -> Vec<Entrant> {
    if !fields.has("challengers") || fields.is_empty_list("challengers") {
        let hint = "name who does: challengers = [\"NAME\"]";
        fields.notes.unfit(fields.place("challengers"), "nobody runs the gauntlet", hint);
        return Vec::new();
    }
    let names = fields.texts("challengers");
    let mut found: Vec<Entrant> = Vec::new();
    for Located { value, span } in names.unwrap_or_default() {
        match listed.iter().position(|one| one.spec.name == value) {
            Some(index) if found.contains(&Entrant(index as u32)) => {
                fields.notes.wrong(span, format!("{value} is there twice"), "once is enough");
            }
            Some(index) => found.push(Entrant(index as u32)),
            None => {
                let hint = nearest_name(listed, &value).map_or_else(
                    || "write the name of an [[entrant]]".to_owned(),
                    |near| format!("did you mean \"{near}\"?"),
                );
                fields.notes.unfit(span, format!("no entrant is named {value}"), hint);
            }
        }
    }
    found
}

fn stop(fields: &TomlReader<'_>) -> StopRule {
    let stop = fields.choice("stop", &["played", "settled"]);
    let most = fields.count("most", 1..=1_000_000);
    let settled = stop.as_ref().is_some_and(|stop| stop.value == "settled");
    if fields.has("most") && !settled && (stop.is_some() || !fields.has("stop")) {
        let what = "`most` is for phases with stop = \"settled\"";
        fields.notes.unfit(fields.place("most"), what, "add stop = \"settled\", or leave `most` out");
    }
    if settled && !fields.has("most") {
        let hint = "add most = 4: at the latest after 4 times as many games as the format plays";
        fields.notes.unfit(fields.place("stop"), "there is no end: `most` is missing", hint);
    }
    match most {
        Some(most) if settled => StopRule::Settled { most: most.value },
        _ => StopRule::Played,
    }
}
