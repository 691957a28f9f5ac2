//! A competition as data in which nothing is left out, and what differs between two of them.

use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use agon_core::Lifetime;
use agon_core::assets::content_hash;

use super::{BotSource, CompetitionConfig, EntrantSpec, PhaseConfig, SandboxRule, SeedSource, StopRule};
use crate::result::Entrant;

/// Raised when a key changes its meaning or goes away.
const VERSION: u32 = 1;
/// How bots that must not remember are made to forget.
const STRICT: &str = "strict";

impl CompetitionConfig {
    /// All that matters, defaults written out, keys in order: what a ledger keeps of the file. Of a seed that stands in the file
    /// only the hash.
    pub fn normalised(&self) -> Json {
        let info = agon_games::infos().into_iter().find(|info| info.id == self.game);
        let forgets = info.is_some_and(|info| info.lifetime == Lifetime::Call);
        json!({
            "agon": "competition",
            "version": VERSION,
            "name": self.name,
            "game": self.game,
            "rules": info.map(|info| info.rules_version),
            "settings": self.settings,
            "entrants": self.entrants.iter().map(entrant).collect::<Vec<_>>(),
            "phases": self.phases.iter().map(phase).collect::<Vec<_>>(),
            "seed": seed(&self.seed),
            "sandbox": match self.sandbox { SandboxRule::Required => "required", SandboxRule::Off => "off" },
            // There is one mode. The key stays, so that ledgers of versions with several agree with their files.
            "stateless": forgets.then_some(STRICT),
            "bots_per_contributor": self.most_by_contributor,
        })
    }
}

fn seed(seed: &SeedSource) -> Json {
    match seed {
        SeedSource::Drawn => json!("drawn"),
        SeedSource::Given(text) => json!({"hash": content_hash(text.as_bytes())}),
        SeedSource::File(path) => json!({"file": path}),
        SeedSource::Variable(name) => json!({"variable": name}),
    }
}

fn entrant(one: &EntrantSpec) -> Json {
    let bot = match &one.bot {
        BotSource::Given(bot) => json!(bot),
        BotSource::Git { repository, branch, path } => json!({"git": repository, "branch": branch, "path": path}),
    };
    let marks: Vec<Json> =
        one.marks.iter().map(|mark| json!({"mark": mark.mark, "note": mark.note})).collect();
    json!({"name": one.name, "bot": bot, "contributor": one.contributor, "marks": marks, "role": one.role})
}

fn phase(phase: &PhaseConfig) -> Json {
    let pairs = |pairs: &[(String, String)]| -> Json {
        pairs.iter().map(|(name, text)| (name.clone(), json!(text))).collect::<Map<_, _>>().into()
    };
    let parts: Vec<Json> = phase
        .parts
        .iter()
        .map(
            |part| json!({"games": part.games, "first_to": part.first_to, "settings": pairs(&part.settings)}),
        )
        .collect();
    let mut normal = json!({
        "name": phase.name,
        "format": phase.format,
        "stop": match phase.stop {
            StopRule::Played => json!("played"),
            StopRule::Settled { most } => json!({"settled": {"most": most}}),
        },
        "parts": parts,
        "variants": phase.variants.iter().map(|variant| pairs(variant)).collect::<Vec<_>>(),
        "settings": phase.settings,
        "resubmit": phase.resubmit,
    });
    // Only where it is said: files that were begun before there was such a key stay what they are.
    if let Some(hidden) = phase.hidden {
        normal["hidden"] = json!(hidden);
    }
    normal
}

/// Something that differs between two versions of a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Change {
    /// Where: `phase 1, matches`.
    pub place: String,
    /// What it was; empty if it was not there.
    pub old: String,
    /// What it is; empty if it is no longer there.
    pub new: String,
    /// What follows from it.
    pub matters: ChangeImpact,
}

/// When a change makes results incomparable.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeImpact {
    /// Never: it is only shown.
    Never,
    /// Once something was played.
    Always,
    /// Once this phase, from 0, was begun.
    InPhase(u32),
    /// Another bot for an entrant: once something was played, unless the next phase waits for new versions.
    NewVersion(Entrant),
}

/// How far a competition has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CompetitionProgress {
    /// How many phases were begun.
    pub begun: u32,
    /// Whether all of them are over and the next one waits for new versions of bots.
    pub waiting: bool,
}

impl Change {
    /// Whether results so far could not be compared with those to come: then the file as it was must be taken.
    pub const fn is_refused(&self, progress: CompetitionProgress) -> bool {
        match self.matters {
            ChangeImpact::Never => false,
            ChangeImpact::Always => progress.begun > 0,
            ChangeImpact::InPhase(phase) => phase < progress.begun,
            ChangeImpact::NewVersion(_) => progress.begun > 0 && !progress.waiting,
        }
    }
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { place, old, new, .. } = self;
        match (old.is_empty(), new.is_empty()) {
            (true, _) => write!(f, "{place}: {new} is new"),
            (_, true) => write!(f, "{place}: {old} is gone"),
            _ => write!(f, "{place}: {old} -> {new}"),
        }
    }
}

/// What differs between two normalised competitions, in the order of a file.
pub fn compare(old: &Json, new: &Json) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut differ = |keys: &[&str], matters| {
        for key in keys {
            walk(&mut changes, key, &old[*key], &new[*key], matters);
        }
    };
    differ(&["name"], ChangeImpact::Never);
    differ(&["version", "game", "rules", "sandbox", "stateless"], ChangeImpact::Always);
    differ(&["bots_per_contributor"], ChangeImpact::Never);
    leaf(&mut changes, "seed", &old["seed"], &new["seed"], ChangeImpact::Always, seed_in_words);
    // The settings are those of the phases.
    entrants(&mut changes, list(&old["entrants"]), list(&new["entrants"]));
    phases(&mut changes, list(&old["phases"]), list(&new["phases"]));
    changes
}

fn list(json: &Json) -> &[Json] {
    json.as_array().map_or(&[], Vec::as_slice)
}

/// An entrant is its place in the list: new ones come last.
fn entrants(changes: &mut Vec<Change>, old: &[Json], new: &[Json]) {
    for number in 0..old.len().max(new.len()) {
        let place = |name: &Json| format!("entrant {} ({})", number + 1, shown(name));
        let (before, after) = (old.get(number), new.get(number));
        let (Some(before), Some(after)) = (before, after) else {
            let name = |one: Option<&Json>| one.map_or_else(String::new, |one| shown(&one["name"]));
            let (old, new) = (name(before), name(after));
            changes.push(Change {
                place: format!("entrant {}", number + 1),
                old,
                new,
                matters: ChangeImpact::Always,
            });
            continue;
        };
        let place = place(&before["name"]);
        walk(changes, &format!("{place}, name"), &before["name"], &after["name"], ChangeImpact::Always);
        walk(changes, &format!("{place}, role"), &before["role"], &after["role"], ChangeImpact::Always);
        let never = ChangeImpact::Never;
        walk(changes, &format!("{place}, contributor"), &before["contributor"], &after["contributor"], never);
        leaf(changes, &format!("{place}, marks"), &before["marks"], &after["marks"], never, marks_in_words);
        let version = ChangeImpact::NewVersion(Entrant(number as u32));
        leaf(changes, &format!("{place}, bot"), &before["bot"], &after["bot"], version, bot_in_words);
    }
}

fn phases(changes: &mut Vec<Change>, old: &[Json], new: &[Json]) {
    for number in 0..old.len().max(new.len()) {
        let (place, matters) = (format!("phase {}", number + 1), ChangeImpact::InPhase(number as u32));
        let (Some(before), Some(after)) = (old.get(number), new.get(number)) else {
            let name = |one: Option<&Json>| one.map_or_else(String::new, |one| shown(&one["name"]));
            let (old, new) = (name(old.get(number)), name(new.get(number)));
            changes.push(Change { place, old, new, matters });
            continue;
        };
        walk(changes, &format!("{place}, name"), &before["name"], &after["name"], ChangeImpact::Never);
        let (kind, now) = (&before["format"]["kind"], &after["format"]["kind"]);
        if kind == now {
            // `matches`, not `format, matches`: as the file has it.
            walk(changes, &place, &before["format"], &after["format"], matters);
        } else {
            walk(changes, &format!("{place}, format"), kind, now, matters);
        }
        for key in ["stop", "parts", "settings", "resubmit", "hidden"] {
            walk(changes, &format!("{place}, {key}"), &before[key], &after[key], matters);
        }
        leaf(
            changes,
            &format!("{place}, letters"),
            &before["variants"],
            &after["variants"],
            matters,
            letters_in_words,
        );
    }
}

fn letters_in_words(variants: &Json) -> String {
    let letters: Vec<String> = list(variants).iter().map(|variant| shown(&variant["letter"])).collect();
    if letters.is_empty() { "drawn".to_owned() } else { letters.join("") }
}

/// Every leaf that differs.
fn walk(changes: &mut Vec<Change>, place: &str, old: &Json, new: &Json, matters: ChangeImpact) {
    match (old, new) {
        (Json::Object(before), Json::Object(after)) => {
            let more = after.keys().filter(|key| !before.contains_key(*key));
            for key in before.keys().chain(more) {
                walk(changes, &format!("{place}, {key}"), &old[key], &new[key], matters);
            }
        }
        (Json::Array(before), Json::Array(after))
            if before.len() == after.len() && before.iter().all(Json::is_object) =>
        {
            for (number, (before, after)) in before.iter().zip(after).enumerate() {
                walk(changes, &format!("{place} {}", number + 1), before, after, matters);
            }
        }
        _ => leaf(changes, place, old, new, matters, shown),
    }
}

/// One thing that may differ, in the words of its kind.
fn leaf(
    changes: &mut Vec<Change>,
    place: &str,
    old: &Json,
    new: &Json,
    matters: ChangeImpact,
    words: fn(&Json) -> String,
) {
    if old != new {
        changes.push(Change { place: place.to_owned(), old: words(old), new: words(new), matters });
    }
}

fn seed_in_words(seed: &Json) -> String {
    let part = |key: &str| seed[key].as_str().map(|text| text.chars().take(15).collect::<String>());
    let hash = part("hash").map(|hash| format!("given ({hash}...)"));
    let place = || {
        ["file", "variable"].iter().find_map(|key| seed[*key].as_str().map(|text| format!("{key} {text}")))
    };
    hash.or_else(place).unwrap_or_else(|| shown(seed))
}

fn marks_in_words(marks: &Json) -> String {
    let one = |mark: &Json| match mark["note"].as_str() {
        Some(note) => format!("{} ({note})", shown(&mark["mark"])),
        None => shown(&mark["mark"]),
    };
    let all: Vec<String> = list(marks).iter().map(one).collect();
    if all.is_empty() { shown(&Json::Null) } else { all.join(", ") }
}

fn bot_in_words(bot: &Json) -> String {
    let Some(repository) = bot["git"].as_str() else { return shown(bot) };
    let more =
        ["branch", "path"].iter().filter_map(|key| bot[*key].as_str().map(|text| format!(", {key} {text}")));
    more.fold(format!("git {repository}"), |text, more| text + &more)
}

/// A value for people.
fn shown(json: &Json) -> String {
    match json {
        Json::Null => "nothing".to_owned(),
        Json::String(text) => text.clone(),
        // As people write it: 2, not 2.0.
        Json::Number(number) => {
            number.as_f64().map_or_else(|| number.to_string(), |number| number.to_string())
        }
        other => other.to_string(),
    }
}
