//! Reads the `[[phase]]` tables.

use std::collections::HashMap;

use agon_core::settings::closest_name;
use agon_core::{BotLifetime, Settings};

use super::entrants::{ParsedEntrant, closest_entrant_name};
use super::game::{GameContext, SettingPair};
use super::matches::{letters, parts};
use super::read::{TOP_LEVEL_KEYS, top_level_key_hint};
use super::toml_reader::{Located, TomlReader};
use super::{PhaseConfig, StopRule, deadline};
use crate::format::{Format, TieRule};
use crate::result::Entrant;

/// Keys of every phase.
const PHASE_KEYS: [&str; 11] = [
    "name", "format", "stop", "most", "parts", "letters", "settings", "resubmit", "hidden", "deadline",
    "freeze",
];
/// Common other names of formats.
const FORMAT_ALIASES: [(&str, &str); 9] = [
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
/// Maximum of any count in a phase.
pub const MAX_COUNT: u64 = 1_000_000_000;
/// A format as the file names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FormatName {
    Groups,
    Arena,
    RoundRobin,
    Cross,
    Swiss,
    Knockout,
    DoubleElimination,
    Gauntlet,
}

impl FormatName {
    const ALL: [Self; 8] = [
        Self::Groups,
        Self::Arena,
        Self::RoundRobin,
        Self::Cross,
        Self::Swiss,
        Self::Knockout,
        Self::DoubleElimination,
        Self::Gauntlet,
    ];

    /// Value of the key `format`.
    const fn name(self) -> &'static str {
        match self {
            Self::Groups => "groups",
            Self::Arena => "arena",
            Self::RoundRobin => "round-robin",
            Self::Cross => "cross",
            Self::Swiss => "swiss",
            Self::Knockout => "knockout",
            Self::DoubleElimination => "double-elimination",
            Self::Gauntlet => "gauntlet",
        }
    }

    /// Keys of a phase with this format, besides those of every phase.
    const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Groups => &["size", "matches"],
            Self::Arena => &["games"],
            Self::RoundRobin => &["legs", "swap"],
            Self::Cross => &["boards"],
            Self::Swiss => &["rounds", "swap"],
            Self::Knockout => &["top", "pairs", "extra", "third", "seeding"],
            Self::DoubleElimination => &["top", "pairs", "extra", "seeding"],
            Self::Gauntlet => &["challengers", "games", "swap"],
        }
    }
}

/// A phase and its table.
pub struct ParsedPhase<'f> {
    /// Its position in the file, from 0. Phases before it may be invalid.
    pub number: usize,
    pub phase: PhaseConfig,
    pub fields: TomlReader<'f>,
}

/// Reads all phases. Skips invalid ones or replaces invalid values by defaults.
pub fn read<'f>(
    tables: &[TomlReader<'f>],
    top: &TomlReader<'f>,
    game: Option<&GameContext>,
    base: &[SettingPair],
    entrants: &[ParsedEntrant],
) -> Vec<ParsedPhase<'f>> {
    if tables.is_empty() && !top.has_or_misspells("phase", &TOP_LEVEL_KEYS) {
        let formats = FormatName::ALL.map(FormatName::name);
        let hint = format!(
            "add a line [[phase]], and format = \"...\" below it; the formats are {}",
            formats.join(", ")
        );
        top.missing("no `[[phase]]` in the file", hint);
    }
    let mut phases = Vec::new();
    let mut names: HashMap<String, usize> = HashMap::new();
    for (number, table) in tables.iter().enumerate() {
        let name = table.name("name");
        let place = name.as_ref().map_or_else(|| table.span.clone(), |name| name.span.clone());
        let name = name.map_or_else(|| format!("Phase {}", number + 1), |name| name.value);
        if let Some(line) = names.insert(name.to_lowercase(), top.errors.line_number(place.start)) {
            let what = format!("the name {name} is already used on line {line}");
            top.errors.global_error(place, what, "give each phase its own name");
        }
        if let Some(phase) = phase(table, name, game, base, entrants) {
            if phase.deadline.is_some() && number > 0 && !phase.resubmit {
                let hint = "add resubmit = true, or remove the deadline";
                let what = "no bots are accepted before this phase, so its deadline has no effect";
                top.errors.global_error(table.key_span("deadline"), what, hint);
            }
            phases.push(ParsedPhase { number, phase, fields: table.clone() });
        }
    }
    phases
}

fn phase(
    fields: &TomlReader<'_>,
    name: String,
    game: Option<&GameContext>,
    base: &[SettingPair],
    entrants: &[ParsedEntrant],
) -> Option<PhaseConfig> {
    let format = format(fields, game, entrants);
    let stop = stop_rule(fields);
    let resubmit = fields.flag("resubmit").is_some_and(|flag| flag.value);
    let hidden = fields.flag("hidden").map(|flag| flag.value);
    let deadline = deadline::read(fields, "deadline");
    let freeze = fields.flag("freeze").is_some_and(|flag| flag.value);
    let game = game?;
    let own = fields.subtable("settings", "write settings = { name = value }, or a table [phase.settings]");
    let pairs = own.as_ref().map_or_else(Vec::new, |own| game.read_settings(own, &[], |_| None));
    let place = own.map_or_else(|| fields.span.clone(), |own| own.span);
    let settings = if pairs.is_empty() {
        let base = base.iter().map(|(name, at)| (name.as_str(), at.value.as_str()));
        Settings::parse(game.info.settings, base).unwrap_or_else(|_| Settings::defaults(game.info.settings))
    } else {
        game.merge_settings(fields, place, &[base, &pairs])
    };
    let parts = parts(fields, game, &[base, &pairs]);
    let variants = letters(fields, game, &[base, &pairs]);
    Some(PhaseConfig {
        name,
        format: format?,
        stop,
        parts,
        variants,
        settings,
        resubmit,
        hidden,
        deadline,
        freeze,
    })
}

fn format(fields: &TomlReader<'_>, game: Option<&GameContext>, entrants: &[ParsedEntrant]) -> Option<Format> {
    let chosen = format_name(fields);
    let all_keys = || FormatName::ALL.into_iter().flat_map(|format| format.keys().iter().copied());
    let own = chosen.map_or_else(|| all_keys().collect(), |format| format.keys().to_vec());
    let known: Vec<&'static str> = PHASE_KEYS.into_iter().chain(own.iter().copied()).collect();
    fields.reject_unknown_keys(&known, |key| {
        if let (Some(format), true) = (chosen, all_keys().any(|other| other == key)) {
            return Some(format!("the keys of {} are {}", format.name(), own.join(", ")));
        }
        match key {
            "first_to" | "seconds" if game.is_some_and(|p| p.info.lifetime == BotLifetime::Match) => Some(
                format!("`{key}` belongs to a part: parts = [{{ games = 99, first_to = 50, seconds = 1 }}]"),
            ),
            _ if game.is_some_and(|game| game.has_setting(key)) => {
                Some(format!("write settings = {{ {key} = ... }} for a setting of one phase"))
            }
            _ => top_level_key_hint(key),
        }
    });
    let swap = || fields.flag("swap").is_some_and(|flag| flag.value);
    let whole =
        |key: &str, default: u64| fields.whole_number(key, 1..=MAX_COUNT).map_or(default, |n| n.value);
    let count = |key: &str, range, default: u32| fields.count(key, range).map_or(default, |n| n.value);
    Some(match chosen? {
        FormatName::Groups => {
            let (size, matches) = (group_size(fields, game), whole("matches", 100));
            Format::Groups { size: size?, matches }
        }
        FormatName::Arena => Format::Arena { games: whole("games", 1000) },
        FormatName::RoundRobin => Format::RoundRobin { legs: count("legs", 1..=10_000, 1), swap: swap() },
        FormatName::Cross => Format::Cross { boards: whole("boards", 100) },
        FormatName::Swiss => {
            if !fields.has("rounds") {
                fields.missing(
                    "a swiss phase needs `rounds`",
                    "add rounds = N; enough to halve the field to one: 5 for 32 entrants, 7 for 128",
                );
            }
            Format::Swiss { rounds: count("rounds", 1..=10_000, 1), swap: swap() }
        }
        FormatName::Knockout => Format::Knockout(tie_rule(fields)),
        FormatName::DoubleElimination => Format::DoubleElimination(tie_rule(fields)),
        FormatName::Gauntlet => Format::Gauntlet {
            challengers: challengers(fields, entrants),
            games: whole("games", 1),
            swap: swap(),
        },
    })
}

fn format_name(fields: &TomlReader<'_>) -> Option<FormatName> {
    let names = FormatName::ALL.map(FormatName::name);
    let all = format!("the formats are {}", names.join(", "));
    if !fields.has("format") {
        if !fields.has_or_misspells("format", &PHASE_KEYS) {
            fields.missing("this phase has no `format`", format!("add format = \"...\"; {all}"));
        }
        return None;
    }
    let text = fields.text("format")?;
    if let Some(format) = FormatName::ALL.into_iter().find(|format| format.name() == text.value) {
        return Some(format);
    }
    let wanted = text.value.to_lowercase().replace([' ', '_'], "-");
    let also = FORMAT_ALIASES.iter().map(|(other, _)| *other);
    let near = closest_name(&wanted, names.into_iter().chain(also));
    let hint = near.map_or(all, |near| match FORMAT_ALIASES.iter().find(|(other, _)| *other == near) {
        Some((_, ours)) => format!("use format = \"{ours}\""),
        None => format!("did you mean \"{near}\"?"),
    });
    fields.errors.local_error(text.span, format!("there is no format \"{}\"", text.value), hint);
    None
}

/// Players per match; the game decides if it allows only one number.
fn group_size(fields: &TomlReader<'_>, game: Option<&GameContext>) -> Option<u32> {
    let fixed =
        game.map(|p| p.info.seats).filter(|seats| seats.min == seats.max).map(|seats| seats.min as u32);
    if fields.has("size") {
        return fields.count("size", 2..=1000).map(|size| size.value);
    }
    if fixed.is_none() && game.is_some() {
        let hint = "add the number of players per match, such as size = 20";
        fields.missing("`groups` needs a `size` for this game", hint);
    }
    fixed
}

fn tie_rule(fields: &TomlReader<'_>) -> TieRule {
    TieRule {
        top: fields.count("top", 2..=1_000_000).map(|top| top.value),
        pairs: fields.count("pairs", 1..=10_000).map_or(1, |pairs| pairs.value),
        extra: fields.count("extra", 0..=10_000).map_or(3, |extra| extra.value),
        third: fields.flag("third").is_some_and(|third| third.value),
    }
}

fn challengers(fields: &TomlReader<'_>, entrants: &[ParsedEntrant]) -> Vec<Entrant> {
    if !fields.has("challengers") || fields.is_empty_list("challengers") {
        let hint = "add challengers = [\"NAME\"]";
        fields.errors.global_error(fields.key_span("challengers"), "`gauntlet` needs `challengers`", hint);
        return Vec::new();
    }
    let names = fields.texts("challengers");
    let mut found: Vec<Entrant> = Vec::new();
    for Located { value, span } in names.unwrap_or_default() {
        match entrants.iter().position(|one| one.spec.name == value) {
            Some(index) if found.contains(&Entrant(index as u32)) => {
                fields.errors.local_error(span, format!("duplicate challenger {value}"), "list it once");
            }
            Some(index) => found.push(Entrant(index as u32)),
            None => {
                let hint = closest_entrant_name(entrants, &value).map_or_else(
                    || "write the name of an [[entrant]]".to_owned(),
                    |near| format!("did you mean \"{near}\"?"),
                );
                fields.errors.global_error(span, format!("no entrant is named {value}"), hint);
            }
        }
    }
    found
}

fn stop_rule(fields: &TomlReader<'_>) -> StopRule {
    let stop = fields.choice("stop", &["played", "settled"]);
    let most = fields.count("most", 1..=1_000_000);
    let settled = stop.as_ref().is_some_and(|stop| stop.value == "settled");
    if fields.has("most") && !settled && (stop.is_some() || !fields.has("stop")) {
        let what = "`most` is only for phases with stop = \"settled\"";
        fields.errors.global_error(fields.key_span("most"), what, "add stop = \"settled\", or remove `most`");
    }
    if settled && !fields.has("most") {
        let hint = "add most = 4 to stop at the latest after 4 times the matches of the format";
        fields.errors.global_error(fields.key_span("stop"), "stop = \"settled\" needs `most`", hint);
    }
    match most {
        Some(most) if settled => StopRule::Settled { most: most.value },
        _ => StopRule::Played,
    }
}
