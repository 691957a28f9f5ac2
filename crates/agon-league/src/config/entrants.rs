//! Reads the `[[entrant]]` tables.

use std::collections::HashMap;

use agon_core::settings::closest_name;
use toml::Spanned;
use toml::de::DeValue;

use super::config_error::Span;
use super::game::GameContext;
use super::read::{TOP_LEVEL_KEYS, top_level_key_hint};
use super::toml_reader::{Located, MAX_NAME_CHARS, TomlReader, join_with_or};
use super::{EntrantBot, EntrantMark, EntrantSpec};

const ENTRANT_KEYS: [&str; 8] = ["name", "bot", "git", "branch", "path", "contributor", "marks", "role"];

/// An entrant and its position in the file.
pub struct ParsedEntrant {
    pub spec: EntrantSpec,
    /// Span of the table header.
    pub span: Span,
}

/// Reads all entrants. Skips invalid ones or replaces their invalid values.
pub fn read(
    tables: &[TomlReader<'_>],
    top: &TomlReader<'_>,
    game: Option<&GameContext>,
    max_bots_per_contributor: Option<u32>,
) -> Vec<ParsedEntrant> {
    if tables.is_empty() && !top.has_or_misspells("entrant", &TOP_LEVEL_KEYS) {
        let bots = game.map_or_else(|| "house:random".to_owned(), |p| format!("house:{}", p.house_bots[0].0));
        top.missing(
            "no `[[entrant]]` in the file",
            format!("add a line [[entrant]] for each bot, and bot = \"{bots}\" below it"),
        );
    }
    let entrants: Vec<(ParsedEntrant, Span)> =
        tables.iter().filter_map(|table| entrant(table, game)).collect();
    check_unique_names(top, &entrants);
    check_contributor_limit(top, &entrants, max_bots_per_contributor);
    entrants.into_iter().map(|(one, _)| one).collect()
}

/// Reads one entrant; also returns the span of its name.
fn entrant(fields: &TomlReader<'_>, game: Option<&GameContext>) -> Option<(ParsedEntrant, Span)> {
    fields.reject_unknown_keys(&ENTRANT_KEYS, |key| match key {
        "mark" | "note" => {
            Some("write marks = [\"AI\"], or with a note marks = { AI = \"what it did\" }".to_owned())
        }
        "url" | "repository" | "repo" => Some("did you mean `git`?".to_owned()),
        "author" | "team" => Some("did you mean `contributor`?".to_owned()),
        _ => top_level_key_hint(key),
    });
    let bot = bot(fields);
    let given = fields.name("name");
    let contributor = fields.name("contributor").map(|one| one.value);
    let marks = marks(fields);
    let roles = bot.as_ref().map_or(&[][..], |bot| house_roles(fields, bot, game));
    let role = role(fields, bot.as_ref(), roles, game);
    let (Some(bot), true) = (bot, given.is_some() || !fields.has("name")) else { return None };
    let place = given.as_ref().map_or_else(|| fields.span.clone(), |name| name.span.clone());
    let name_given = given.is_some();
    let name = given.map_or_else(|| default_name(&bot.value), |name| name.value);
    if name.is_empty() || name.chars().count() > MAX_NAME_CHARS {
        fields.missing(
            "this entrant needs a `name`: its bot gives none, or too long a one",
            "add name = \"...\"",
        );
    }
    let spec = EntrantSpec { name, name_given, bot: bot.value, contributor, marks, role };
    Some((ParsedEntrant { spec, span: fields.span.clone() }, place))
}

fn bot(fields: &TomlReader<'_>) -> Option<Located<EntrantBot>> {
    let (bot, git) = (fields.text("bot"), fields.text("git"));
    if fields.has("bot") && fields.has("git") {
        let hint = "keep one; use `path` for a bot inside the repository";
        fields.errors.global_error(fields.key_span("git"), "an entrant has `bot` or `git`, not both", hint);
        return None;
    }
    for key in ["branch", "path"] {
        if fields.has(key) && !fields.has("git") {
            let what = format!("`{key}` is only for entrants with `git`");
            fields.errors.global_error(fields.key_span(key), what, "add git = \"...\", or remove it");
        }
    }
    let (branch, path) = (fields.text("branch"), fields.text("path"));
    if let Some(bot) = bot {
        return bot_spec(fields, bot);
    }
    if let Some(repository) = git {
        check_git_source(fields, &repository, branch.as_ref(), path.as_ref())?;
        let (branch, path) = (branch.map(|at| at.value), path.map(|at| at.value));
        return Some(Located::new(
            EntrantBot::Git { repository: repository.value, branch, path },
            repository.span,
        ));
    }
    let guessed = ["url", "repository", "repo"].iter().any(|key| fields.has(key));
    if !fields.has_or_misspells("bot", &ENTRANT_KEYS)
        && !fields.has_or_misspells("git", &ENTRANT_KEYS)
        && !guessed
    {
        let hint = "add bot = \"house:NAME\", a path, a command, or git = \"https://...\"";
        fields.missing("this entrant has no bot", hint);
    }
    None
}

fn bot_spec(fields: &TomlReader<'_>, bot: Located<String>) -> Option<Located<EntrantBot>> {
    let Located { value, span } = bot;
    if value == "human" {
        let hint = "play against bots with `agon play`";
        fields.errors.local_error(span, "`human` cannot play in a competition", hint);
        return None;
    }
    // As on the command line, one word is a path only if it looks like one.
    let known = value.starts_with("house:") || value.starts_with("json:");
    if !known && !value.contains([' ', '/', '.']) {
        let word = value.rsplit(':').next().unwrap_or_default();
        let hint =
            format!("write \"house:{word}\" for a house bot, \"./{word}\" for a folder next to the file");
        fields.errors.local_error(span, format!("`{value}` is not a bot"), hint);
        return None;
    }
    Some(Located::new(EntrantBot::Spec(value), span))
}

/// Rejects sources that `git` would read as an option or command, and paths that leave the repository.
fn check_git_source(
    fields: &TomlReader<'_>,
    repository: &Located<String>,
    branch: Option<&Located<String>>,
    path: Option<&Located<String>>,
) -> Option<()> {
    let reject = |at: &Located<String>, what: String, hint: &str| {
        fields.errors.local_error(at.span.clone(), what, hint);
    };
    let url = &repository.value;
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    let odd = |scheme: &str| !["https", "ssh", "file"].contains(&scheme);
    if url.starts_with('-') || url.contains("::") || scheme.is_some_and(odd) {
        let hint = if scheme == Some("http") {
            "http can be changed in transit; write https://"
        } else {
            "write https://HOST/PATH, ssh://..., user@host:path, or a path relative to the file"
        };
        reject(repository, format!("`{url}` is not a repository that can be fetched"), hint);
        return None;
    }
    if let Some(branch) = branch {
        let bad = |c: char| c.is_whitespace() || "~^:?*[\\".contains(c);
        if branch.value.starts_with('-') || branch.value.contains("..") || branch.value.contains(bad) {
            reject(
                branch,
                format!("`{}` is not a branch name", branch.value),
                "write its name as `git branch` lists it, such as \"main\"",
            );
            return None;
        }
    }
    if let Some(path) = path
        && (path.value.starts_with(['/', '-']) || path.value.split('/').any(|part| part == ".."))
    {
        reject(
            path,
            "`path` leads out of the repository".to_owned(),
            "write a path relative to the repository root, such as \"bots/mine.py\"",
        );
        return None;
    }
    Some(())
}

/// Entrant name derived from its bot.
fn default_name(bot: &EntrantBot) -> String {
    let last =
        |path: &str| path.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default().to_owned();
    let stem = |path: &str| {
        let name = last(path);
        name.rsplit_once('.').map_or(name.clone(), |(stem, _)| stem.to_owned())
    };
    match bot {
        EntrantBot::Git { repository, .. } => last(repository.trim_end_matches('/').trim_end_matches(".git")),
        EntrantBot::Spec(bot) => {
            if let Some(name) = bot.strip_prefix("house:") {
                return name.to_owned();
            }
            if let Some((_, name)) = bot.rsplit_once(".yml#").or_else(|| bot.rsplit_once(".yaml#")) {
                return name.to_owned();
            }
            // A path to an archive may contain spaces: `Ana Perez.zip`. No command ends with one.
            if let Some((_, "zip")) = bot.rsplit_once('.') {
                return stem(bot);
            }
            let words: Vec<&str> = bot.strip_prefix("json:").unwrap_or(bot).split_whitespace().collect();
            if let [path] = words[..]
                && let Some((_, class)) = path.rsplit_once(".py:").or_else(|| path.rsplit_once(".zip:"))
            {
                return class.to_owned();
            }
            let file = words.iter().rev().find(|word| word.contains('.') && !word.starts_with('-'));
            file.or(words.first()).map_or_else(String::new, |word| stem(word))
        }
    }
}

/// Reads `marks = ["AI"]`, or with notes `marks = { AI = "..." }`.
fn marks(fields: &TomlReader<'_>) -> Vec<EntrantMark> {
    let Some(value) = fields.get("marks") else { return Vec::new() };
    let DeValue::Table(table) = value.get_ref() else {
        let texts = fields.texts("marks").unwrap_or_default();
        let mut marks: Vec<EntrantMark> = Vec::new();
        for Located { value, span } in texts {
            if marks.iter().any(|mark| mark.mark == value) {
                fields.errors.local_error(span, format!("duplicate mark {value}"), "list it once");
            } else {
                marks.push(EntrantMark { mark: value, note: None });
            }
        }
        return marks;
    };
    let note = |mark: &str, note: &Spanned<DeValue<'_>>| match note.get_ref() {
        DeValue::String(text) => Some((!text.trim().is_empty()).then(|| text.trim().to_owned())),
        DeValue::Boolean(true) => Some(None),
        _ => {
            let what = format!("the note on {mark} is not text");
            fields.errors.local_error(
                note.span(),
                what,
                format!("write marks = {{ {mark} = \"what it means here\" }}"),
            );
            None
        }
    };
    let one = |(key, value): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
        let mark = fields.single_line("marks", key.get_ref(), key.span())?.value;
        note(&mark, value).map(|note| EntrantMark { mark, note })
    };
    table.iter().filter_map(one).collect()
}

/// Roles of a house bot; empty if it is not a house bot or plays all roles.
fn house_roles(
    fields: &TomlReader<'_>,
    bot: &Located<EntrantBot>,
    game: Option<&GameContext>,
) -> &'static [&'static str] {
    let (Some(name), Some(game)) = (bot.value.house_name(), game) else { return &[] };
    game.house_bot_roles(name).unwrap_or_else(|hint| {
        let what = format!("{} has no house bot `{name}`", game.info.title);
        fields.errors.local_error(bot.span.clone(), what, hint);
        &[]
    })
}

/// Role of an entrant: as given, or as its bot implies.
fn role(
    fields: &TomlReader<'_>,
    bot: Option<&Located<EntrantBot>>,
    bot_roles: &[&'static str],
    game: Option<&GameContext>,
) -> Option<&'static str> {
    let game = game?;
    if !game.has_roles() {
        if fields.has("role") {
            let what = format!("{} has no roles to choose from", game.info.title);
            fields.errors.global_error(fields.key_span("role"), what, "remove `role`");
        }
        return None;
    }
    let roles: Vec<&'static str> = game.info.roles.iter().map(|role| role.name).collect();
    if fields.has("role") {
        let role = fields.choice("role", &roles)?;
        if !bot_roles.is_empty() && !bot_roles.contains(&role.value) {
            let what = format!("this house bot does not play {}", role.value);
            fields.errors.global_error(
                role.span,
                what,
                format!("it plays {}; remove `role`", join_with_or(bot_roles)),
            );
        }
        return Some(role.value);
    }
    if let [only] = bot_roles {
        return Some(only);
    }
    let bot = bot?;
    if let EntrantBot::Spec(text) = &bot.value
        && let Some((_, class)) = text.rsplit_once(".py:").or_else(|| text.rsplit_once(".zip:"))
        && let Some(role) = roles.iter().find(|role| class.to_lowercase().contains(**role))
    {
        return Some(role);
    }
    // An unknown house bot was reported already.
    if bot.value.house_name().is_none() {
        let quoted: Vec<String> = roles.iter().map(|role| format!("role = \"{role}\"")).collect();
        fields.missing("this entrant needs a `role`", format!("add {}", join_with_or(&quoted)));
    }
    None
}

/// Names must differ by more than upper and lower case.
fn check_unique_names(top: &TomlReader<'_>, entrants: &[(ParsedEntrant, Span)]) {
    let mut seen: HashMap<String, (&str, usize)> = HashMap::new();
    for (one, place) in entrants {
        let name = &one.spec.name;
        match seen.get(&name.to_lowercase()) {
            Some((first, line)) => {
                let what = if *first == name {
                    format!("the name {name} is already used on line {line}")
                } else {
                    format!("the name {name} differs from {first} (line {line}) only in upper and lower case")
                };
                let hint = "rename one of them: name = \"...\"";
                top.errors.global_error(place.clone(), what, hint);
            }
            None => {
                seen.insert(name.to_lowercase(), (name, top.errors.line_number(place.start)));
            }
        }
    }
}

/// Checks `bots_per_contributor`.
fn check_contributor_limit(top: &TomlReader<'_>, entrants: &[(ParsedEntrant, Span)], most: Option<u32>) {
    let Some(most) = most else { return };
    let mut counts: HashMap<&str, u32> = HashMap::new();
    for (one, _) in entrants {
        let Some(contributor) = one.spec.contributor.as_deref() else { continue };
        let count = counts.entry(contributor).or_default();
        *count += 1;
        if *count == most + 1 {
            let all = entrants
                .iter()
                .filter(|(other, _)| other.spec.contributor.as_deref() == Some(contributor))
                .count();
            let what = format!("{contributor} has {all} bots; bots_per_contributor is {most}");
            top.errors.global_error(
                one.span.clone(),
                what,
                "remove some, or raise the limit at the top of the file",
            );
        }
    }
}

/// The entrant name most similar to a word, for hints.
pub fn closest_entrant_name(entrants: &[ParsedEntrant], word: &str) -> Option<String> {
    closest_name(word, entrants.iter().map(|one| one.spec.name.as_str())).map(str::to_owned)
}
