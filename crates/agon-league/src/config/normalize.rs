//! Normalised form of a competition file, and the differences between two of them.

use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use agon_core::BotLifetime;
use agon_core::assets::content_hash;

use super::{
    CompetitionConfig, EntrantBot, EntrantSpec, MeterRule, PhaseConfig, Presentation, SandboxRule, SeedSource,
    StopRule,
};
use crate::result::Entrant;

/// Raised when a key is removed or changes its meaning.
const VERSION: u32 = 1;
/// The only mode of stateless bots.
const STRICT: &str = "strict";

impl CompetitionConfig {
    /// Normalised JSON with all defaults written out, as stored in the ledger. A seed written in the file is stored as its hash.
    pub fn normalised(&self) -> Json {
        let info = agon_games::infos().into_iter().find(|info| info.id == self.game);
        let forgets = info.is_some_and(|info| info.lifetime == BotLifetime::Call);
        let mut config = json!({
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
            // There is one mode. The key stays, so that ledgers of versions with several modes agree with their files.
            "stateless": forgets.then_some(STRICT),
            "bots_per_contributor": self.max_bots_per_contributor,
        });
        // The default is left out, so that ledgers of versions without this key agree with their files.
        if self.meter == MeterRule::Cgroup {
            config["meter"] = json!("cgroup");
        }
        if !self.forbidden_libraries.is_empty() {
            config["forbidden_libraries"] = json!(self.forbidden_libraries);
        }
        if let Some(packages) = &self.packages {
            config["packages"] = json!(packages);
        }
        if let Some(most) = self.max_zip_mib {
            config["max_zip_mib"] = json!(most);
        }
        if let Some(deadline) = &self.deadline {
            config["deadline"] = json!(deadline);
        }
        if let Some(freeze) = &self.freeze {
            config["freeze"] = json!(freeze);
        }
        if self.presentation != Presentation::default() {
            config["presentation"] = json!(self.presentation);
        }
        config
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
        EntrantBot::Spec(bot) => json!(bot),
        EntrantBot::Git { repository, branch, path } => {
            json!({"git": repository, "branch": branch, "path": path})
        }
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
    // Only if set: ledgers started before this key existed must not change.
    if let Some(hidden) = phase.hidden {
        normal["hidden"] = json!(hidden);
    }
    if let Some(deadline) = &phase.deadline {
        normal["deadline"] = json!(deadline);
    }
    if phase.freeze {
        normal["freeze"] = json!(true);
    }
    normal
}

/// A difference between two versions of a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ConfigChange {
    /// Position: `phase 1, matches`.
    pub place: String,
    /// Old value; empty if the item is new.
    pub old: String,
    /// New value; empty if the item was removed.
    pub new: String,
    /// Consequence of the change.
    #[serde(rename = "matters")]
    pub impact: ChangeImpact,
}

/// When a change makes results incomparable.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeImpact {
    /// Never: display only.
    Never,
    /// Once any match was played.
    Always,
    /// Once this phase (from 0) has started.
    InPhase(u32),
    /// The bot of an entrant changed: once any match was played, unless the next phase waits for new versions.
    NewVersion(Entrant),
}

/// Progress of a competition.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CompetitionProgress {
    /// Number of started phases.
    pub started_phases: u32,
    /// Whether all started phases are finished and the next one waits for new bot versions.
    pub waiting_for_bots: bool,
}

impl ConfigChange {
    /// Whether the change would make earlier and later results incomparable. The old file must then be used.
    pub const fn is_refused(&self, progress: CompetitionProgress) -> bool {
        match self.impact {
            ChangeImpact::Never => false,
            ChangeImpact::Always => progress.started_phases > 0,
            ChangeImpact::InPhase(phase) => phase < progress.started_phases,
            ChangeImpact::NewVersion(_) => progress.started_phases > 0 && !progress.waiting_for_bots,
        }
    }
}

impl std::fmt::Display for ConfigChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { place, old, new, .. } = self;
        match (old.is_empty(), new.is_empty()) {
            (true, _) => write!(f, "{place}: {new} is new"),
            (_, true) => write!(f, "{place}: {old} is gone"),
            _ => write!(f, "{place}: {old} -> {new}"),
        }
    }
}

/// Differences between two normalised competitions, in the order of a file.
pub fn compare_configs(old: &Json, new: &Json) -> Vec<ConfigChange> {
    let mut changes = Vec::new();
    let mut differ = |keys: &[&str], impact| {
        for key in keys {
            diff_values(&mut changes, key, &old[*key], &new[*key], impact);
        }
    };
    differ(&["name"], ChangeImpact::Never);
    differ(&["version", "game", "rules", "sandbox", "stateless"], ChangeImpact::Always);
    differ(&["packages"], ChangeImpact::Always);
    differ(
        &["bots_per_contributor", "forbidden_libraries", "max_zip_mib", "deadline", "freeze", "presentation"],
        ChangeImpact::Never,
    );
    push_if_changed(&mut changes, "seed", &old["seed"], &new["seed"], ChangeImpact::Always, describe_seed);
    // Settings are compared per phase.
    entrants(&mut changes, list(&old["entrants"]), list(&new["entrants"]));
    phases(&mut changes, list(&old["phases"]), list(&new["phases"]));
    changes
}

fn list(json: &Json) -> &[Json] {
    json.as_array().map_or(&[], Vec::as_slice)
}

/// Compares entrants by list index; new ones come last.
fn entrants(changes: &mut Vec<ConfigChange>, old: &[Json], new: &[Json]) {
    for number in 0..old.len().max(new.len()) {
        let place = |name: &Json| format!("entrant {} ({})", number + 1, describe_value(name));
        let (before, after) = (old.get(number), new.get(number));
        let (Some(before), Some(after)) = (before, after) else {
            let name = |one: Option<&Json>| one.map_or_else(String::new, |one| describe_value(&one["name"]));
            let (old, new) = (name(before), name(after));
            changes.push(ConfigChange {
                place: format!("entrant {}", number + 1),
                old,
                new,
                impact: ChangeImpact::Always,
            });
            continue;
        };
        let place = place(&before["name"]);
        diff_values(
            changes,
            &format!("{place}, name"),
            &before["name"],
            &after["name"],
            ChangeImpact::Always,
        );
        diff_values(
            changes,
            &format!("{place}, role"),
            &before["role"],
            &after["role"],
            ChangeImpact::Always,
        );
        let never = ChangeImpact::Never;
        diff_values(
            changes,
            &format!("{place}, contributor"),
            &before["contributor"],
            &after["contributor"],
            never,
        );
        push_if_changed(
            changes,
            &format!("{place}, marks"),
            &before["marks"],
            &after["marks"],
            never,
            describe_marks,
        );
        let version = ChangeImpact::NewVersion(Entrant(number as u32));
        push_if_changed(
            changes,
            &format!("{place}, bot"),
            &before["bot"],
            &after["bot"],
            version,
            describe_bot,
        );
    }
}

fn phases(changes: &mut Vec<ConfigChange>, old: &[Json], new: &[Json]) {
    for number in 0..old.len().max(new.len()) {
        let (place, impact) = (format!("phase {}", number + 1), ChangeImpact::InPhase(number as u32));
        let (Some(before), Some(after)) = (old.get(number), new.get(number)) else {
            let name = |one: Option<&Json>| one.map_or_else(String::new, |one| describe_value(&one["name"]));
            let (old, new) = (name(old.get(number)), name(new.get(number)));
            changes.push(ConfigChange { place, old, new, impact });
            continue;
        };
        diff_values(changes, &format!("{place}, name"), &before["name"], &after["name"], ChangeImpact::Never);
        let (kind, now) = (&before["format"]["kind"], &after["format"]["kind"]);
        if kind == now {
            // Write `matches` instead of `format, matches`, as in the file.
            diff_values(changes, &place, &before["format"], &after["format"], impact);
        } else {
            diff_values(changes, &format!("{place}, format"), kind, now, impact);
        }
        let never = ChangeImpact::Never;
        diff_values(changes, &format!("{place}, deadline"), &before["deadline"], &after["deadline"], never);
        diff_values(changes, &format!("{place}, freeze"), &before["freeze"], &after["freeze"], never);
        for key in ["stop", "parts", "settings", "resubmit", "hidden"] {
            diff_values(changes, &format!("{place}, {key}"), &before[key], &after[key], impact);
        }
        push_if_changed(
            changes,
            &format!("{place}, letters"),
            &before["variants"],
            &after["variants"],
            impact,
            describe_letters,
        );
    }
}

fn describe_letters(variants: &Json) -> String {
    let letters: Vec<String> =
        list(variants).iter().map(|variant| describe_value(&variant["letter"])).collect();
    if letters.is_empty() { "drawn".to_owned() } else { letters.join("") }
}

/// Records every differing leaf value.
fn diff_values(changes: &mut Vec<ConfigChange>, place: &str, old: &Json, new: &Json, impact: ChangeImpact) {
    match (old, new) {
        (Json::Object(before), Json::Object(after)) => {
            let more = after.keys().filter(|key| !before.contains_key(*key));
            for key in before.keys().chain(more) {
                diff_values(changes, &format!("{place}, {key}"), &old[key], &new[key], impact);
            }
        }
        (Json::Array(before), Json::Array(after))
            if before.len() == after.len() && before.iter().all(Json::is_object) =>
        {
            for (number, (before, after)) in before.iter().zip(after).enumerate() {
                diff_values(changes, &format!("{place} {}", number + 1), before, after, impact);
            }
        }
        _ => push_if_changed(changes, place, old, new, impact, describe_value),
    }
}

/// Records one value if it differs.
fn push_if_changed(
    changes: &mut Vec<ConfigChange>,
    place: &str,
    old: &Json,
    new: &Json,
    impact: ChangeImpact,
    describe: fn(&Json) -> String,
) {
    if old != new {
        changes.push(ConfigChange {
            place: place.to_owned(),
            old: describe(old),
            new: describe(new),
            impact,
        });
    }
}

fn describe_seed(seed: &Json) -> String {
    let part = |key: &str| seed[key].as_str().map(|text| text.chars().take(15).collect::<String>());
    let hash = part("hash").map(|hash| format!("given ({hash}...)"));
    let place = || {
        ["file", "variable"].iter().find_map(|key| seed[*key].as_str().map(|text| format!("{key} {text}")))
    };
    hash.or_else(place).unwrap_or_else(|| describe_value(seed))
}

fn describe_marks(marks: &Json) -> String {
    let one = |mark: &Json| match mark["note"].as_str() {
        Some(note) => format!("{} ({note})", describe_value(&mark["mark"])),
        None => describe_value(&mark["mark"]),
    };
    let all: Vec<String> = list(marks).iter().map(one).collect();
    if all.is_empty() { describe_value(&Json::Null) } else { all.join(", ") }
}

fn describe_bot(bot: &Json) -> String {
    let Some(repository) = bot["git"].as_str() else { return describe_value(bot) };
    let more =
        ["branch", "path"].iter().filter_map(|key| bot[*key].as_str().map(|text| format!(", {key} {text}")));
    more.fold(format!("git {repository}"), |text, more| text + &more)
}

/// A value as display text.
fn describe_value(json: &Json) -> String {
    match json {
        Json::Null => "nothing".to_owned(),
        Json::String(text) => text.clone(),
        // Write 2 instead of 2.0.
        Json::Number(number) => {
            number.as_f64().map_or_else(|| number.to_string(), |number| number.to_string())
        }
        other => other.to_string(),
    }
}
