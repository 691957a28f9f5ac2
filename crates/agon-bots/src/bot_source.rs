//! Where a bot comes from: what a user wrote, parsed once.

use std::fmt;
use std::path::{Path, PathBuf};

use agon_host::BotRejection;
use agon_league::config::{EntrantBot, EntrantSpec};

use crate::error::Diagnostic;
use crate::manifest;
use crate::prepare::PrepareError;
use crate::source::{notebook, players_yml};

/// Where a bot comes from. Paths are as the user wrote them, relative to the folder of the [`PrepareContext`](crate::PrepareContext).
/// `Display` gives the bot spec back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BotSource {
    /// `house:NAME`: a house bot.
    House(String),
    /// `human`: a person at the terminal.
    Human,
    /// A folder with an `agon.toml`.
    Manifest(PathBuf),
    /// A folder or a `.py` file.
    Python {
        /// Path of the folder or file.
        path: PathBuf,
        /// Class of the bot, if given.
        class: Option<String>,
    },
    /// A Python bot in a `.zip`.
    Zip {
        /// Path of the archive.
        path: PathBuf,
        /// Class of the bot, if given.
        class: Option<String>,
    },
    /// An entry of a `players.yml`.
    PlayersYml {
        /// Path of the list.
        list: PathBuf,
        /// Name of the entry; the only one if `None`.
        entry: Option<String>,
    },
    /// A command, run in the base folder.
    Command {
        /// The command line.
        command: String,
        /// Whether it began with `json:`: the bot speaks JSON lines even if the game has a text protocol.
        json_lines: bool,
    },
    /// A bot in a git repository of a competition.
    Git {
        /// Name of the entrant, which has a copy of the repository of its own.
        entrant: String,
        /// URL or path for `git clone`.
        repository: String,
        /// Branch; the default branch if `None`.
        branch: Option<String>,
        /// Path of the bot in the repository, optionally with a class.
        path: Option<String>,
    },
    /// A package from another machine, already unpacked.
    Package {
        /// Folder of the unpacked package.
        folder: PathBuf,
        /// Bot spec inside the package.
        spec: String,
        /// Expected content hash.
        hash: String,
    },
}

impl BotSource {
    /// Parses a bot spec: `house:NAME`, `human`, a folder, a `.py` or `.zip` with an optional class, an entry of a `players.yml`, or a
    /// command. Relative paths are looked up in `folder`; an empty one means the current folder.
    pub fn parse(text: &str, folder: &Path) -> Result<Self, PrepareError> {
        if let Some(name) = text.strip_prefix("house:") {
            return Ok(Self::House(name.to_owned()));
        }
        if text == "human" {
            return Ok(Self::Human);
        }
        if folder.join(text).join(manifest::FILE).is_file() {
            return Ok(Self::Manifest(text.into()));
        }
        if let Some(source) = Self::parse_players_yml(text, folder).or_else(|| Self::parse_path(text, folder))
        {
            return Ok(source);
        }
        Self::parse_command(text, folder)
    }

    /// The source of an entrant. `folder` is the folder of the competition file.
    pub fn of_entrant(entrant: &EntrantSpec, folder: &Path) -> Result<Self, PrepareError> {
        match &entrant.bot {
            EntrantBot::Spec(text) => Self::parse(text, folder),
            EntrantBot::Git { repository, branch, path } => Ok(Self::Git {
                entrant: entrant.name.clone(),
                repository: repository.clone(),
                branch: branch.clone(),
                path: path.clone(),
            }),
        }
    }

    fn parse_players_yml(text: &str, folder: &Path) -> Option<Self> {
        if players_yml::is_list(&folder.join(text)) {
            return Some(Self::PlayersYml { list: text.into(), entry: None });
        }
        let (list, entry) = text.rsplit_once('#')?;
        has_ending(Path::new(list), &["yml", "yaml"])
            .then(|| Self::PlayersYml { list: list.into(), entry: Some(entry.to_owned()) })
    }

    /// An existing folder, `.py` or `.zip`, optionally with a class.
    fn parse_path(text: &str, folder: &Path) -> Option<Self> {
        let (path, class) = split_class(text, folder);
        let (whole, class) = (folder.join(path), class.map(str::to_owned));
        let (path, is_file) = (PathBuf::from(path), whole.is_file());
        if whole.is_dir() || (is_file && has_ending(&path, &["py"])) {
            return Some(Self::Python { path, class });
        }
        (is_file && has_ending(&path, &["zip"])).then_some(Self::Zip { path, class })
    }

    fn parse_command(text: &str, folder: &Path) -> Result<Self, PrepareError> {
        let json = text.strip_prefix("json:");
        let command = json.unwrap_or(text);
        let path = Path::new(split_class(text, folder).0);
        let refused = |rejection: BotRejection| {
            Err(PrepareError::Refused { bot: text.to_owned(), rejection: Box::new(rejection) })
        };
        if json.is_none() && !command.contains(' ') && notebook::is_notebook(path) {
            return refused(notebook::rejection(path));
        }
        let is_path = !command.contains(' ') || has_ending(path, &["zip"]);
        if json.is_none() && is_path && has_ending(path, &["py", "zip", "yml", "yaml"]) {
            return refused(missing_path("the file does not exist", path, folder));
        }
        // A path without arguments that does not exist: most often a folder that was mistyped or not created yet.
        if json.is_none() && !command.contains(' ') && command.contains('/') && !folder.join(path).exists() {
            return refused(missing_path("there is no such file or folder", path, folder));
        }
        // A single word is a command only if it is a path: `random` is probably a house bot without `house:`.
        if json.is_none() && !command.contains([' ', '/']) {
            let hint = if folder.join(command).exists() {
                format!("write ./{command} for a program in the current folder")
            } else {
                format!(
                    "write house:{command} for a house bot (see `agon bots GAME`), or human to play yourself"
                )
            };
            return Err(Diagnostic::wrong_use(format!("`{text}` is not a bot"), hint).into());
        }
        Ok(Self::Command { command: command.to_owned(), json_lines: json.is_some() })
    }
}

impl fmt::Display for BotSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::House(name) => write!(f, "house:{name}"),
            Self::Human => f.write_str("human"),
            Self::Manifest(path)
            | Self::Python { path, class: None }
            | Self::Zip { path, class: None }
            | Self::PlayersYml { list: path, entry: None } => write!(f, "{}", path.display()),
            Self::Python { path, class: Some(class) } | Self::Zip { path, class: Some(class) } => {
                write!(f, "{}:{class}", path.display())
            }
            Self::PlayersYml { list, entry: Some(entry) } => write!(f, "{}#{entry}", list.display()),
            Self::Command { command, json_lines: true } => write!(f, "json:{command}"),
            Self::Command { command, json_lines: false } => f.write_str(command),
            Self::Git { repository, .. } => f.write_str(repository),
            Self::Package { spec, .. } => f.write_str(spec),
        }
    }
}

/// The rejection of a path that does not exist. It names the first folder that is missing.
fn missing_path(what: &str, path: &Path, folder: &Path) -> BotRejection {
    let parents: Vec<&Path> = path.ancestors().skip(1).filter(|at| !at.as_os_str().is_empty()).collect();
    let hint = match parents.into_iter().rev().find(|at| !folder.join(at).exists()) {
        Some(missing) => format!(
            "there is no folder {}; write the path relative to the current folder, or create a bot with `agon new GAME DIR`",
            missing.display()
        ),
        None => "write the path relative to the current folder".to_owned(),
    };
    BotRejection::new(what, hint)
}

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    path.extension().is_some_and(|ending| endings.iter().any(|known| ending == *known))
}

/// Splits `PATH:CLASS` if the path exists and the whole text is not a path.
fn split_class<'t>(text: &'t str, folder: &Path) -> (&'t str, Option<&'t str>) {
    match text.rsplit_once(':') {
        Some((path, class))
            if !folder.join(text).exists() && is_class_name(class) && folder.join(path).exists() =>
        {
            (path, Some(class))
        }
        _ => (text, None),
    }
}

/// Whether the text is a valid class name.
fn is_class_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c == '_' || c.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in ["python", "built"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        for name in ["bot.py", "bot.zip", "players.yml", "program", "odd:name.py", "built/agon.toml"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        folder
    }

    fn failure(text: &str, folder: &Path) -> String {
        Diagnostic::from(BotSource::parse(text, folder).unwrap_err()).to_string()
    }

    #[test]
    fn each_kind_of_bot_spec_is_parsed_and_displayed_as_written() {
        let folder = folder();
        let some = |name: &str| Some(name.to_owned());
        let command =
            |command: &str, json_lines| BotSource::Command { command: command.to_owned(), json_lines };
        let cases = [
            ("house:random", BotSource::House("random".to_owned())),
            ("human", BotSource::Human),
            ("built", BotSource::Manifest("built".into())),
            ("./built/", BotSource::Manifest("./built/".into())),
            ("python", BotSource::Python { path: "python".into(), class: None }),
            ("python:Bot", BotSource::Python { path: "python".into(), class: some("Bot") }),
            ("./bot.py", BotSource::Python { path: "./bot.py".into(), class: None }),
            ("bot.py:My_Bot", BotSource::Python { path: "bot.py".into(), class: some("My_Bot") }),
            ("odd:name.py", BotSource::Python { path: "odd:name.py".into(), class: None }),
            ("bot.zip", BotSource::Zip { path: "bot.zip".into(), class: None }),
            ("bot.zip:Bot", BotSource::Zip { path: "bot.zip".into(), class: some("Bot") }),
            ("players.yml", BotSource::PlayersYml { list: "players.yml".into(), entry: None }),
            ("none.yaml#me", BotSource::PlayersYml { list: "none.yaml".into(), entry: some("me") }),
            ("./program", command("./program", false)),
            ("python3 bot.py", command("python3 bot.py", false)),
            ("json:program", command("program", true)),
            ("json:python3 bot.py", command("python3 bot.py", true)),
        ];
        for (text, expected) in cases {
            let source = BotSource::parse(text, folder.path()).map_err(Diagnostic::from).unwrap();
            assert_eq!(source, expected, "{text}");
            assert_eq!(source.to_string(), text);
        }
    }

    #[test]
    fn notebook_is_rejected_with_the_way_to_a_python_file() {
        let folder = folder();
        fs::write(folder.path().join("my bot.ipynb"), "{}").unwrap();
        for text in ["bot.ipynb", "./bots/bot.IPYNB"] {
            let told = failure(text, folder.path());
            assert!(told.contains("a notebook is not a Python file"), "{told}");
            assert!(told.contains(&format!("jupyter nbconvert --to script {text}")), "{told}");
        }
    }

    #[test]
    fn missing_folder_is_named() {
        let folder = folder();
        let told = failure("./no/such/bot", folder.path());
        assert!(
            told.starts_with(
                "./no/such/bot: there is no such file or folder\nhint: there is no folder ./no;"
            ),
            "{told}"
        );
        let told = failure("built/none", folder.path());
        assert!(told.ends_with("hint: write the path relative to the current folder"), "{told}");
        let told = failure("gone/bot.py", folder.path());
        assert!(told.contains("there is no folder gone;"), "{told}");
    }

    #[test]
    fn text_that_names_no_bot_is_rejected_with_a_hint() {
        let folder = folder();
        assert_eq!(
            failure("none.py", folder.path()),
            "none.py: the file does not exist\nhint: write the path relative to the current folder"
        );
        assert_eq!(
            failure("random", folder.path()),
            "`random` is not a bot\nhint: write house:random for a house bot (see `agon bots GAME`), or human to play yourself"
        );
        assert_eq!(
            failure("program", folder.path()),
            "`program` is not a bot\nhint: write ./program for a program in the current folder"
        );
    }
}
