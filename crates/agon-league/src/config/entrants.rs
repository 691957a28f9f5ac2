//! The `[[entrant]]` tables.

use std::collections::HashMap;

use agon_core::settings::nearest;
use toml::Spanned;
use toml::de::DeValue;

use super::toml_reader::{Located, TomlReader, LONGEST, either};
use super::game::GameContext;
use super::config_error::Span;
use super::read::{TOP, top_key};
use super::{BotSource, EntrantSpec, Mark};

const KEYS: [&str; 8] = ["name", "bot", "git", "branch", "path", "contributor", "marks", "role"];

/// An entrant, and where it stands.
pub struct ParsedEntrant {
    pub spec: EntrantSpec,
    /// Its header.
    pub span: Span,
}

/// Reads them all. One that is wrong is left out, or has something else in the place of what is wrong.
pub fn read(
    tables: &[TomlReader<'_>],
    top: &TomlReader<'_>,
    played: Option<&GameContext>,
    most_by_contributor: Option<u32>,
) -> Vec<ParsedEntrant> {
    if tables.is_empty() && !top.meant("entrant", &TOP) {
        let bots = played.map_or_else(|| "house:random".to_owned(), |p| format!("house:{}", p.house[0].0));
        top.missing(
            "nobody takes part",
            format!("add a line [[entrant]] for each, and below it bot = \"{bots}\""),
        );
    }
    let listed: Vec<(ParsedEntrant, Span)> = tables.iter().filter_map(|table| entrant(table, played)).collect();
    twice(top, &listed);
    contributors(top, &listed, most_by_contributor);
    listed.into_iter().map(|(one, _)| one).collect()
}

/// One of them, and the place of its name.
fn entrant(fields: &TomlReader<'_>, played: Option<&GameContext>) -> Option<(ParsedEntrant, Span)> {
    fields.finish(&KEYS, |key| match key {
        "mark" | "note" => {
            Some("marks = [\"AI\"], or with a note marks = { AI = \"what it did\" }".to_owned())
        }
        "url" | "repository" | "repo" => Some("did you mean `git`?".to_owned()),
        "author" | "team" => Some("did you mean `contributor`?".to_owned()),
        _ => top_key(key),
    });
    let bot = bot(fields);
    let given = fields.name("name");
    let contributor = fields.name("contributor").map(|one| one.value);
    let marks = marks(fields);
    let roles = bot.as_ref().map_or(&[][..], |bot| house_roles(fields, bot, played));
    let role = role(fields, bot.as_ref(), roles, played);
    let (Some(bot), true) = (bot, given.is_some() || !fields.has("name")) else { return None };
    let place = given.as_ref().map_or_else(|| fields.span.clone(), |name| name.span.clone());
    let name = given.map_or_else(|| name_of(&bot.value), |name| name.value);
    if name.is_empty() || name.chars().count() > LONGEST {
        fields
            .missing("this entrant has no name, and its bot tells none that is short", "add name = \"...\"");
    }
    let spec = EntrantSpec { name, bot: bot.value, contributor, marks, role };
    Some((ParsedEntrant { spec, span: fields.span.clone() }, place))
}

fn bot(fields: &TomlReader<'_>) -> Option<Located<BotSource>> {
    let (bot, git) = (fields.text("bot"), fields.text("git"));
    if fields.has("bot") && fields.has("git") {
        let hint = "keep one; a bot inside the repository is named by `path`";
        fields.notes.unfit(
            fields.place("git"),
            "an entrant has a `bot` or a `git` repository, not both",
            hint,
        );
        return None;
    }
    for key in ["branch", "path"] {
        if fields.has(key) && !fields.has("git") {
            let what = format!("`{key}` is for entrants that are git repositories");
            fields.notes.unfit(fields.place(key), what, "add git = \"...\", or leave it out");
        }
    }
    let (branch, path) = (fields.text("branch"), fields.text("path"));
    if let Some(bot) = bot {
        return given(fields, bot);
    }
    if let Some(repository) = git {
        safe_git(fields, &repository, branch.as_ref(), path.as_ref())?;
        let (branch, path) = (branch.map(|at| at.value), path.map(|at| at.value));
        return Some(Located::new(BotSource::Git { repository: repository.value, branch, path }, repository.span));
    }
    let guessed = ["url", "repository", "repo"].iter().any(|key| fields.has(key));
    if !fields.meant("bot", &KEYS) && !fields.meant("git", &KEYS) && !guessed {
        let hint = "add bot = \"house:NAME\", a path, a command, or git = \"https://...\"";
        fields.missing("this entrant has no bot", hint);
    }
    None
}

fn given(fields: &TomlReader<'_>, bot: Located<String>) -> Option<Located<BotSource>> {
    let Located { value, span } = bot;
    if value == "human" {
        let hint = "a competition plays by itself; `agon play` has a seat for you";
        fields.notes.wrong(span, "nobody can sit at every game of a competition", hint);
        return None;
    }
    // One word is a path only if it looks like one: as on the command line.
    let known = value.starts_with("house:") || value.starts_with("json:");
    if !known && !value.contains([' ', '/', '.']) {
        let word = value.rsplit(':').next().unwrap_or_default();
        let hint = format!("a house bot is \"house:{word}\", a folder beside the file \"./{word}\"");
        fields.notes.wrong(span, format!("`{value}` is no bot"), hint);
        return None;
    }
    Some(Located::new(BotSource::Given(value), span))
}

/// What `git` would take for an option, or for a command to run, is no repository; and a path stays inside.
fn safe_git(
    fields: &TomlReader<'_>,
    repository: &Located<String>,
    branch: Option<&Located<String>>,
    path: Option<&Located<String>>,
) -> Option<()> {
    let refused = |at: &Located<String>, what: String, hint: &str| {
        fields.notes.wrong(at.span.clone(), what, hint);
    };
    let url = &repository.value;
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    let odd = |scheme: &str| !["https", "ssh", "file"].contains(&scheme);
    if url.starts_with('-') || url.contains("::") || scheme.is_some_and(odd) {
        let hint = if scheme == Some("http") {
            "over http anybody on the way can change it: write https://"
        } else {
            "write https://HOST/PATH, ssh://..., user@host:path, or a path beside the file"
        };
        refused(repository, format!("`{url}` is no repository that can be fetched"), hint);
        return None;
    }
    if let Some(branch) = branch {
        let bad = |c: char| c.is_whitespace() || "~^:?*[\\".contains(c);
        if branch.value.starts_with('-') || branch.value.contains("..") || branch.value.contains(bad) {
            refused(
                branch,
                format!("`{}` is no branch", branch.value),
                "write its name as `git branch` lists it, such as \"main\"",
            );
            return None;
        }
    }
    if let Some(path) = path
        && (path.value.starts_with(['/', '-']) || path.value.split('/').any(|part| part == ".."))
    {
        refused(
            path,
            "`path` leads out of the repository".to_owned(),
            "it is read from the repository's top folder, such as \"bots/mine.py\"",
        );
        return None;
    }
    Some(())
}

/// The name that a bot tells by itself.
fn name_of(bot: &BotSource) -> String {
    let last =
        |path: &str| path.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default().to_owned();
    let stem = |path: &str| {
        let name = last(path);
        name.rsplit_once('.').map_or(name.clone(), |(stem, _)| stem.to_owned())
    };
    match bot {
        BotSource::Git { repository, .. } => last(repository.trim_end_matches('/').trim_end_matches(".git")),
        BotSource::Given(bot) => {
            if let Some(name) = bot.strip_prefix("house:") {
                return name.to_owned();
            }
            if let Some((_, name)) = bot.rsplit_once(".yml#").or_else(|| bot.rsplit_once(".yaml#")) {
                return name.to_owned();
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

/// `marks = ["AI"]`, or with notes `marks = { AI = "..." }`.
fn marks(fields: &TomlReader<'_>) -> Vec<Mark> {
    let Some(value) = fields.get("marks") else { return Vec::new() };
    let DeValue::Table(table) = value.get_ref() else {
        let texts = fields.texts("marks").unwrap_or_default();
        let mut marks: Vec<Mark> = Vec::new();
        for Located { value, span } in texts {
            if marks.iter().any(|mark| mark.mark == value) {
                fields.notes.wrong(span, format!("the mark {value} is there twice"), "once is enough");
            } else {
                marks.push(Mark { mark: value, note: None });
            }
        }
        return marks;
    };
    let note = |mark: &str, note: &Spanned<DeValue<'_>>| match note.get_ref() {
        DeValue::String(text) => Some((!text.trim().is_empty()).then(|| text.trim().to_owned())),
        DeValue::Boolean(true) => Some(None),
        _ => {
            let what = format!("the note on {mark} is not text");
            fields.notes.wrong(
                note.span(),
                what,
                format!("write marks = {{ {mark} = \"what it means here\" }}"),
            );
            None
        }
    };
    let one = |(key, value): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
        let mark = fields.line("marks", key.get_ref(), key.span())?.value;
        note(&mark, value).map(|note| Mark { mark, note })
    };
    table.iter().filter_map(one).collect()
}

/// The roles of a house bot; none if it is no house bot, or plays all.
fn house_roles(fields: &TomlReader<'_>, bot: &Located<BotSource>, played: Option<&GameContext>) -> &'static [&'static str] {
    let (BotSource::Given(text), Some(played)) = (&bot.value, played) else { return &[] };
    let Some(name) = text.strip_prefix("house:") else { return &[] };
    played.house_bot(name).unwrap_or_else(|hint| {
        let what = format!("{} has no house bot `{name}`", played.info.title);
        fields.notes.wrong(bot.span.clone(), what, hint);
        &[]
    })
}

/// The role of an entrant: as given, or as its bot tells.
fn role(
    fields: &TomlReader<'_>,
    bot: Option<&Located<BotSource>>,
    own: &[&'static str],
    played: Option<&GameContext>,
) -> Option<&'static str> {
    let played = played?;
    if !played.has_roles() {
        if fields.has("role") {
            let what = format!("{} has no roles to choose from", played.info.title);
            fields.notes.unfit(fields.place("role"), what, "leave `role` out");
        }
        return None;
    }
    let roles: Vec<&'static str> = played.info.roles.iter().map(|role| role.name).collect();
    if fields.has("role") {
        let role = fields.choice("role", &roles)?;
        if !own.is_empty() && !own.contains(&role.value) {
            let what = format!("this house bot is no {}", role.value);
            fields.notes.unfit(role.span, what, format!("it plays {}; leave `role` out", either(own)));
        }
        return Some(role.value);
    }
    if let [only] = own {
        return Some(only);
    }
    let bot = bot?;
    if let BotSource::Given(text) = &bot.value
        && let Some((_, class)) = text.rsplit_once(".py:").or_else(|| text.rsplit_once(".zip:"))
        && let Some(role) = roles.iter().find(|role| class.to_lowercase().contains(**role))
    {
        return Some(role);
    }
    // The name of a house bot that does not exist was told already.
    if !matches!(&bot.value, BotSource::Given(text) if text.starts_with("house:")) {
        let quoted: Vec<String> = roles.iter().map(|role| format!("role = \"{role}\"")).collect();
        fields.missing("this entrant's role is not clear", format!("add {}", either(&quoted)));
    }
    None
}

/// No two names the same, nor so alike that people would mix them up.
fn twice(top: &TomlReader<'_>, listed: &[(ParsedEntrant, Span)]) {
    let mut seen: HashMap<String, (&str, usize)> = HashMap::new();
    for (one, place) in listed {
        let name = &one.spec.name;
        match seen.get(&name.to_lowercase()) {
            Some((first, line)) => {
                let what = if *first == name {
                    format!("the name {name} is taken: line {line} has it")
                } else {
                    format!("the name {name} differs from {first} (line {line}) only in its capitals")
                };
                let hint = "give one of them another name: name = \"...\"";
                top.notes.unfit(place.clone(), what, hint);
            }
            None => {
                seen.insert(name.to_lowercase(), (name, top.notes.line(place.start)));
            }
        }
    }
}

/// Nobody has more bots than allowed.
fn contributors(top: &TomlReader<'_>, listed: &[(ParsedEntrant, Span)], most: Option<u32>) {
    let Some(most) = most else { return };
    let mut counts: HashMap<&str, u32> = HashMap::new();
    for (one, _) in listed {
        let Some(contributor) = one.spec.contributor.as_deref() else { continue };
        let count = counts.entry(contributor).or_default();
        *count += 1;
        if *count == most + 1 {
            let all = listed
                .iter()
                .filter(|(other, _)| other.spec.contributor.as_deref() == Some(contributor))
                .count();
            let what = format!("{contributor} has {all} bots; bots_per_contributor is {most}");
            top.notes.unfit(one.span.clone(), what, "leave some out, or allow more at the top of the file");
        }
    }
}

/// The entrant that a word means, for hints.
pub fn nearest_name(listed: &[ParsedEntrant], word: &str) -> Option<String> {
    nearest(word, listed.iter().map(|one| one.spec.name.as_str())).map(str::to_owned)
}
