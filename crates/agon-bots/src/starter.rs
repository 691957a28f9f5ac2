//! Starter bots that play legal moves, made from templates.
//!
//! Each game contains, for each language, the one file that the author changes. Files that all bots of a language share come from the
//! example bots (`examples/bots`), so that they exist once. A template is a complete bot: the names in it (`StarterBot`,
//! `starter_bot`, `starter-bot`) are replaced, also in its file name.

use std::fmt::Write as _;
use std::path::PathBuf;

use agon_core::GameInfo;
use agon_core::settings::closest_name;
use rust_embed::RustEmbed;

use crate::error::Diagnostic;
use crate::manifest::{self, JSON_LINES};

#[derive(RustEmbed)]
#[folder = "templates"]
struct Templates;

#[derive(RustEmbed)]
#[folder = "../../examples/bots"]
#[include = "javascript/agon.js"]
#[include = "cpp/agon.hpp"]
#[include = "java/Agon.java"]
#[include = "rust/agon.rs"]
struct Shared;

/// A language for starter bots.
#[derive(Debug)]
pub struct Language {
    /// Name on the command line.
    pub id: &'static str,
    /// Other accepted names.
    aliases: &'static [&'static str],
    /// Name in texts.
    pub title: &'static str,
    /// Command that builds a bot.
    pub build: Option<&'static str>,
    /// Command that runs a bot; `None` if Agon knows how.
    command: Option<&'static str>,
    /// File that implements the protocol.
    shared: Option<&'static str>,
}

/// All languages: those of every game, then those of some games. Commands run in the bot's folder and name only files in it.
pub const LANGUAGES: [Language; 6] = [
    Language {
        id: "python",
        aliases: &["py", "python3"],
        title: "Python",
        build: None,
        command: None,
        shared: None,
    },
    Language {
        id: "rust",
        aliases: &["rs"],
        title: "Rust",
        build: Some("rustc --edition 2021 -O bot.rs"),
        command: Some("./bot"),
        shared: Some("rust/agon.rs"),
    },
    Language {
        id: "cpp",
        aliases: &["c++", "cc", "cxx"],
        title: "C++",
        build: Some("g++ -O2 -std=c++17 -o bot bot.cpp"),
        command: Some("./bot"),
        shared: Some("cpp/agon.hpp"),
    },
    Language {
        id: "java",
        aliases: &[],
        title: "Java",
        // Java finds the other sources by the names of their classes.
        build: Some("javac -d build Bot.java"),
        // The serial collector starts fastest and needs the fewest threads.
        command: Some("java -XX:+UseSerialGC -cp build Bot"),
        shared: Some("java/Agon.java"),
    },
    Language {
        id: "js",
        aliases: &["javascript", "node"],
        title: "JavaScript",
        build: None,
        command: Some("node bot.js"),
        shared: Some("javascript/agon.js"),
    },
    Language {
        id: "scala",
        aliases: &[],
        title: "Scala",
        build: Some("sh build.sh"),
        // Not `scala`: that is a script which starts Java as another process.
        command: Some("java -XX:+UseSerialGC -cp build:scala-library.jar Runner"),
        shared: None,
    },
];

/// Finds a language by its name on the command line.
pub fn language(word: &str) -> Result<&'static Language, Diagnostic> {
    let lower = word.to_lowercase();
    let known = |language: &&Language| language.id == lower || language.aliases.contains(&lower.as_str());
    LANGUAGES.iter().find(known).ok_or_else(|| {
        let ids = LANGUAGES.iter().map(|language| language.id);
        let all = ids.clone().collect::<Vec<_>>().join(", ");
        let near = closest_name(word, ids.chain(["javascript"]));
        let meant = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
        Diagnostic::wrong_use(
            format!("--lang: no starter bot for `{word}`"),
            format!("{meant}use one of {all}; for any other language see docs/protocol.md"),
        )
    })
}

/// Names of a bot, derived from the name of its folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TemplateNames {
    /// Name in tables: `my-bot`.
    pub shown: String,
    /// Class name: `MyBot`.
    pub class: String,
    /// Module name: `my_bot`.
    pub module: String,
}

impl TemplateNames {
    /// Derives the names. Keeps only letters and digits that every language allows.
    pub fn of(folder: &str) -> Self {
        let words: Vec<&str> =
            folder.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()).collect();
        let capital = |word: &&str| word[..1].to_uppercase() + &word[1..];
        let mut class: String = words.iter().map(capital).collect();
        let mut module = words.join("_").to_lowercase();
        // These names are reserved or used in Python.
        if ["None", "True", "False", "Move"].contains(&class.as_str()) {
            (class, module) = (class + "Bot", module + "_bot");
        }
        if class.is_empty() {
            (class, module) = ("MyBot".to_owned(), "my_bot".to_owned());
        }
        if class.starts_with(|c: char| c.is_ascii_digit()) {
            class.insert_str(0, "Bot");
            module.insert_str(0, "bot_");
        }
        let shown = if words.is_empty() { "bot".to_owned() } else { words.join("-") };
        Self { shown, class, module }
    }

    fn fill_in(&self, text: &str) -> String {
        text.replace("StarterBot", &self.class)
            .replace("starter_bot", &self.module)
            .replace("starter-bot", &self.shown)
    }
}

/// A file of a starter bot.
pub struct File {
    /// File name.
    pub name: String,
    /// Content of the file.
    pub content: Vec<u8>,
    /// Description for the README.
    pub description: &'static str,
}

/// Folder of a starter bot.
pub struct Starter {
    /// Files, the author's file first.
    pub files: Vec<File>,
    /// Commands to run in the folder, in order: build, check, play, write a competition.
    pub commands: Vec<String>,
}

impl Starter {
    /// Starter bot for a game in a language.
    pub fn new(info: &GameInfo, language: &Language, names: &TemplateNames) -> Result<Self, Diagnostic> {
        let own_lines = info.bots.text_protocol.is_some();
        let mut files = vec![strategy_file(info, language, names)?];
        let main = files[0].name.clone();
        let more = info.starters.bots.iter().filter(|bot| bot.language == language.id).skip(1);
        files.extend(more.map(|bot| File {
            name: bot.file.to_owned(),
            content: names.fill_in(bot.text).into_bytes(),
            description: "part of the bot; its first lines say what it does",
        }));
        if let Some(shared) = language.shared.filter(|_| !own_lines)
            && let Some(file) = Shared::get(shared)
        {
            let name = shared.rsplit('/').next().unwrap_or(shared).to_owned();
            files.push(File {
                name,
                content: file.data.into_owned(),
                description: "talks to Agon; you need not change it",
            });
        }
        // Without a Python API, Python scripts run as commands. Other Python bots are found by their classes.
        let script = format!("python3 {main}");
        let command = language.command.or(info.bots.python.is_none().then_some(script.as_str()));
        if let Some(command) = command {
            let content = agon_toml(info, language, names, command).into_bytes();
            files.push(File {
                name: manifest::FILE.to_owned(),
                content,
                description: "how to build and run the bot",
            });
        }
        if info.bots.players_yml {
            let opponents = info.starters.opponents.iter().flat_map(|words| words.split(' '));
            let opponent = opponents.filter_map(|word| word.strip_prefix("house:")).next_back();
            files.push(players_yml(names, command.unwrap_or_default(), opponent));
        }
        files.extend(info.starters.files.iter().map(|file| File {
            name: file.name.to_owned(),
            content: file.text.into(),
            description: file.about,
        }));
        let mut commands: Vec<String> = language.build.map(str::to_owned).into_iter().collect();
        commands.push(format!("agon check {} .", info.id));
        commands.extend(info.starters.opponents.iter().map(|words| format!("agon play {} {words}", info.id)));
        if info.bots.players_yml {
            commands.push("agon run players.yml".to_owned());
        }
        // Beside the folder: what is in the folder is a part of the bot, and the ledger holds the secret seed.
        commands.push(format!("agon init {} ../{}-cup.toml --short --bot .", info.id, names.shown));
        let content = readme(info, language, names, &files, &commands).into_bytes();
        files.push(File {
            name: "README.md".to_owned(),
            content,
            description: "the game, the bot's API, next steps",
        });
        Ok(Self { files, commands })
    }
}

/// Files of a starter bot: path, content, and whether the file is executable.
pub fn files(game: &str, lang: &str, name: &str) -> Result<Vec<(PathBuf, Vec<u8>, bool)>, Diagnostic> {
    let info = agon_engine::any_game(game)?.info();
    let starter = Starter::new(info, language(lang)?, &TemplateNames::of(name))?;
    // Programs are built by the author, so no file of a starter is executable.
    Ok(starter.files.into_iter().map(|file| (PathBuf::from(file.name), file.content, false)).collect())
}

/// The file with the bot's strategy.
fn strategy_file(info: &GameInfo, language: &Language, names: &TemplateNames) -> Result<File, Diagnostic> {
    let Some(bot) = info.starters.bots.iter().find(|bot| bot.language == language.id) else {
        let mut all: Vec<&str> = info.starters.bots.iter().map(|bot| bot.language).collect();
        all.dedup();
        return Err(Diagnostic::wrong_use(
            format!("{} has no starter in {}", info.id, language.title),
            format!("use one of {}", all.join(", ")),
        ));
    };
    Ok(File {
        name: names.fill_in(bot.file),
        content: names.fill_in(bot.text).into_bytes(),
        description: "the bot's strategy: your part",
    })
}

fn agon_toml(info: &GameInfo, language: &Language, names: &TemplateNames, command: &str) -> String {
    let (game, protocol) = (info.id, info.bots.text_protocol.unwrap_or(JSON_LINES));
    let mut toml = format!(
        "# How this bot is run: with this file its folder is a BOT, as in `agon play {game} DIR house:random`.\n\
         name = \"{}\"\nlanguage = \"{}\"\nprotocol = \"{protocol}\"\n",
        names.shown, language.title
    );
    if let Some(build) = language.build {
        let _ = writeln!(toml, "build = \"{build}\"");
    }
    toml + &format!("command = \"{command}\"\n")
}

/// The list that the game's own tools read.
fn players_yml(names: &TemplateNames, command: &str, opponent: Option<&str>) -> File {
    let mut players = format!(
        "# `agon run players.yml` plays each pair twice and writes results/summary.html.\nplayers:\n\
         - name: {}\n  directory: .\n  command: {command}\n",
        names.shown
    );
    if let Some(house) = opponent {
        let _ = write!(players, "- name: {house}\n  command: house:{house}\n");
    }
    File {
        name: "players.yml".to_owned(),
        content: players.into(),
        description: "the bot and an opponent, for `agon run players.yml`",
    }
}

fn readme(
    info: &GameInfo,
    language: &Language,
    names: &TemplateNames,
    files: &[File],
    commands: &[String],
) -> String {
    let starters = &info.starters;
    let in_python = starters.asked_python.filter(|_| language.command.is_none());
    let by_class = in_python.is_some();
    let mut asked = in_python.unwrap_or(starters.asked_lines).trim_end().to_owned();
    if language.shared.is_some() && info.bots.text_protocol.is_none() {
        asked += &format!("\n\n{}", text(&format!("languages/{}-reading.md", language.id)).trim_end());
    }
    let notes = if language.command.is_none() && !by_class { "python-lines" } else { language.id };
    let notes = text(&format!("languages/{notes}.md"));
    let mut table = "| file | is |\n|---|---|\n".to_owned();
    for file in files {
        let _ = writeln!(table, "| `{}` | {} |", file.name, file.description);
    }
    let main = files.first().map_or("", |file| file.name.as_str());
    let filled = [
        ("title", info.title),
        ("game", info.id),
        ("language", language.title),
        ("main", main),
        ("about", starters.about.trim_end()),
        ("asked", &asked),
        ("files", table.trim_end()),
        (
            "steps",
            if language.build.is_some() { "Build, check, play, compete" } else { "Check, play, compete" },
        ),
        ("commands", &commands.join("\n")),
        ("notes", notes.trim_end()),
        ("next", starters.next.trim_end()),
    ];
    let whole = filled
        .iter()
        .fold(text("README.md"), |readme, (slot, words)| readme.replace(&format!("{{{{{slot}}}}}"), words));
    names.fill_in(&whole)
}

/// Text of a template. Tests find a missing one, because some bot uses each template.
fn text(path: &str) -> String {
    Templates::get(path).map_or_else(String::new, |file| String::from_utf8_lossy(&file.data).into_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn template_names_are_derived_from_the_folder_name() {
        let names = |folder| {
            let TemplateNames { shown, class, module } = TemplateNames::of(folder);
            format!("{shown} {class} {module}")
        };
        assert_eq!(names("my-bot"), "my-bot MyBot my_bot");
        assert_eq!(names("DeepBlue"), "DeepBlue DeepBlue deepblue");
        assert_eq!(names("4 wins!"), "4-wins Bot4Wins bot_4_wins");
        assert_eq!(names("none"), "none NoneBot none_bot");
        assert_eq!(names("bot"), "bot Bot bot");
        assert_eq!(names("move"), "move MoveBot move_bot");
        assert_eq!(names("böt\"; rm"), "b-t-rm BTRm b_t_rm");
        assert_eq!(names("..."), "bot MyBot my_bot");
    }

    #[test]
    fn languages_equal_those_of_the_games() {
        let required = agon_core::game_texts::STARTER_LANGUAGES;
        let ids = LANGUAGES.each_ref().map(|language| language.id);
        assert_eq!(ids[..required.len()], required);
        for id in &ids[required.len()..] {
            let has = |info: &&&GameInfo| info.starters.bots.iter().any(|bot| bot.language == *id);
            assert!(agon_games::infos().iter().any(|info| has(&info)), "no game has a starter in {id}");
        }
    }

    #[test]
    fn starter_of_every_game_and_language_is_complete() {
        for info in agon_games::infos() {
            let bots = info.starters.bots;
            for language in LANGUAGES.iter().filter(|one| bots.iter().any(|bot| bot.language == one.id)) {
                let starter = Starter::new(info, language, &TemplateNames::of("my-bot")).unwrap();
                let here = format!("{} in {}", info.id, language.title);
                let read = |name: &str| {
                    let file = starter.files.iter().find(|file| file.name == name);
                    file.map(|file| String::from_utf8(file.content.clone()).unwrap())
                };
                let main = String::from_utf8(starter.files[0].content.clone()).unwrap();
                assert!(main.contains("Your idea goes here"), "{here}: no marker for the author's code");
                let readme = read("README.md").unwrap();
                assert!(
                    !readme.contains("{{") && !readme.to_lowercase().contains("starter"),
                    "{here}: {readme}"
                );
                assert!(
                    !readme.contains("\n\n\n") && !readme.ends_with("\n\n"),
                    "{here}: the README has an empty part: {readme}"
                );
                for command in &starter.commands {
                    assert!(readme.contains(&format!("\n{command}\n")), "{here}: {command}");
                }
                assert_eq!(
                    read(manifest::FILE).is_some(),
                    language.id != "python" || info.bots.python.is_none(),
                    "{here}"
                );
                assert_eq!(read("players.yml").is_some(), info.bots.players_yml, "{here}");
                let shared = starter.files.iter().any(|file| file.description.starts_with("talks to Agon"));
                assert_eq!(shared, language.id != "python" && info.bots.text_protocol.is_none(), "{here}");
            }
        }
    }

    #[test]
    fn language_aliases_are_accepted() {
        assert_eq!(language("JavaScript").unwrap().id, "js");
        assert_eq!(language("c++").unwrap().id, "cpp");
        assert!(language("pyhton").unwrap_err().to_string().contains("did you mean `python`?"));
        assert!(!language("cobol!").unwrap_err().to_string().contains("did you mean"));
    }
}
