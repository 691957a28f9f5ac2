//! An entry of a `players.yml`, Word Racer's list of bots: `name`, `directory`, `command`, and optionally `language`.

use std::fs;
use std::path::{Path, PathBuf};

use agon_core::settings::closest_name;
use agon_host::program::Program;
use serde::Deserialize;
use serde_saphyr::{Error, Spanned};

use super::BotRejection;

/// Maximum file size.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// The keys of an entry.
const KEYS: [&str; 4] = ["name", "directory", "command", "language"];
/// Hint that describes an entry.
const EXPECTED_FORMAT: &str =
    "write players: then for each bot - name, directory, command, one below the other";

/// Hint about the keys of an entry.
const NEEDED_KEYS: &str = "give each bot name, directory and command";
/// Start of a command that names a house bot.
const HOUSE: &str = "house:";
/// Name of the folder for results, beside the bots' folders.
pub const RESULTS_FOLDER: &str = "results";

/// A bot of the list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlayersEntry {
    /// Its name.
    pub name: String,
    /// Its folder.
    pub directory: PathBuf,
    /// The command that runs it in that folder, or `house:NAME`.
    pub command: String,
    /// Its programming language, if given.
    pub language: Option<String>,
    file: String,
    /// The folder for relative paths.
    root: PathBuf,
    /// Folder of the results, if the list is played: it is not part of a bot, even if a bot's folder contains it.
    results: PathBuf,
    directory_line: u32,
    command_line: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    players: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: Spanned<String>,
    /// Not needed for a house bot.
    directory: Option<Spanned<String>>,
    command: Spanned<String>,
    language: Option<Spanned<String>>,
}

/// Whether a path is such a list.
pub fn is_list(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "yml" || e == "yaml") && path.is_file()
}

/// The bot with this name; without a name, the only one. `NAME@DIR` resolves its directory against DIR instead of the list's folder.
pub fn choose(path: &Path, name: Option<&str>) -> Result<PlayersEntry, BotRejection> {
    choose_in(Path::new(""), path, name)
}

/// The same, with relative paths resolved against `root` instead of the current folder. Messages show them as given.
pub fn choose_in(root: &Path, path: &Path, name: Option<&str>) -> Result<PlayersEntry, BotRejection> {
    let shown = path.display().to_string();
    let players = read_in(root, path, None)?;
    if let Some((start, base)) = name.and_then(|name| name.rsplit_once('@'))
        && !players.iter().any(|player| Some(player.name.as_str()) == name)
        && players.iter().any(|player| player.name == start)
    {
        return choose_from(read_in(root, path, Some(Path::new(base)))?, Some(start), &shown);
    }
    choose_from(players, name, &shown)
}

fn choose_from(
    mut players: Vec<PlayersEntry>,
    name: Option<&str>,
    shown: &str,
) -> Result<PlayersEntry, BotRejection> {
    let names = players.iter().map(|player| player.name.as_str()).collect::<Vec<_>>().join(", ");
    let Some(name) = name else {
        // House bots in the list are opponents.
        if players.iter().any(|player| player.house_bot().is_none()) {
            players.retain(|player| player.house_bot().is_none());
        }
        if players.len() > 1 {
            let (what, hint) =
                (format!("has several bots: {names}"), format!("name one: {shown}#{}", players[0].name));
            return Err(BotRejection::new(what, hint).in_file(shown));
        }
        return Ok(players.remove(0));
    };
    let near = closest_name(name, players.iter().map(|player| player.name.as_str()))
        .map_or_else(String::new, |near| format!("did you mean {near}? "));
    players.into_iter().find(|player| player.name == name).ok_or_else(|| {
        let hint = format!("{near}it has {names}");
        BotRejection::new(format!("has no bot named {name}"), hint).in_file(shown)
    })
}

/// All bots of a list, at least one. Directories are resolved against `base`, or against the list's folder.
pub fn read(path: &Path, base: Option<&Path>) -> Result<Vec<PlayersEntry>, BotRejection> {
    read_in(Path::new(""), path, base)
}

fn read_in(root: &Path, path: &Path, base: Option<&Path>) -> Result<Vec<PlayersEntry>, BotRejection> {
    let shown = path.display().to_string();
    let whole = root.join(path);
    let refused = |what: &str, hint: &str| BotRejection::new(what, hint).in_file(&shown);
    let about = fs::metadata(&whole).map_err(|error| BotRejection::io("read it", path, &error))?;
    if about.len() > MAX_FILE_BYTES {
        return Err(refused("is larger than 1 MiB", "name a list of bots, which is a few lines long"));
    }
    let text = fs::read(&whole).map_err(|error| BotRejection::io("read it", path, &error))?;
    let text = String::from_utf8(text).map_err(|_| refused("is not text", "save it as UTF-8 text"))?;
    let list: Result<List, Error> = serde_saphyr::from_str(&text);
    // The contest's document prints a list that is not valid YAML. Errors refer to the text as written.
    let list = list.or_else(|error| serde_saphyr::from_str(&align_keys(&text)).map_err(|_| error));
    let list = list.map_err(|error| rejection_of(&error).in_file(&shown))?;
    if list.players.is_empty() {
        return Err(refused("has no bots", EXPECTED_FORMAT));
    }
    let folder = base.or(path.parent()).unwrap_or(Path::new(""));
    let here = ".".to_owned();
    let mut players: Vec<PlayersEntry> = Vec::new();
    for entry in list.players {
        let (line, column) = place(entry.name.referenced);
        let name = entry.name.value;
        if name.trim().is_empty() {
            return Err(refused("the name is empty", "name the bot").at(line, column));
        }
        if players.iter().any(|player| player.name == name) {
            let what = format!("the name {name} is listed twice");
            return Err(refused(&what, "give each bot a different name").at(line, column));
        }
        let is_house = entry.command.value.starts_with(HOUSE);
        let Some(directory) =
            entry.directory.as_ref().map(|directory| &directory.value).or_else(|| is_house.then_some(&here))
        else {
            return Err(refused("a bot has no directory", NEEDED_KEYS).at(line, column));
        };
        players.push(PlayersEntry {
            name,
            directory: folder.join(directory),
            command: entry.command.value,
            language: entry.language.map(|language| language.value),
            file: shown.clone(),
            root: root.to_owned(),
            results: root.join(folder).join(RESULTS_FOLDER),
            directory_line: entry
                .directory
                .map_or(0, |directory| place(directory.referenced).0.unwrap_or_default()),
            command_line: place(entry.command.referenced).0.unwrap_or_default(),
        });
    }
    Ok(players)
}

impl PlayersEntry {
    /// Name of the house bot, if the command names one: `house:NAME`.
    pub fn house_bot(&self) -> Option<&str> {
        self.command.trim().strip_prefix(HOUSE)
    }

    /// A rejection at the line of the command.
    pub fn reject_command(&self, what: impl AsRef<str>, hint: impl AsRef<str>) -> BotRejection {
        BotRejection::new(what, hint).in_file(&self.file).at(Some(self.command_line), None)
    }

    /// The folder of results inside the bot's folder, if there is one: an absolute path.
    pub fn results_inside(&self, bot_folder: &Path) -> Option<PathBuf> {
        let results = self.results.canonicalize().ok()?;
        results.starts_with(bot_folder.canonicalize().ok()?).then_some(results)
    }

    /// The program to run, if it exists.
    pub fn program(&self, sandboxed: bool) -> Result<Program, BotRejection> {
        let at = |refusal: BotRejection, line: u32| refusal.in_file(&self.file).at(Some(line), None);
        let directory = self.root.join(&self.directory);
        if !directory.is_dir() {
            let what = format!("there is no directory {}", self.directory.display());
            return Err(at(
                BotRejection::new(what, "give a path relative to the list's folder"),
                self.directory_line,
            ));
        }
        let wrong = |error| at(BotRejection::from(error), self.command_line);
        let directory = directory.canonicalize().map_err(|error| {
            at(
                BotRejection::new(
                    format!("cannot enter the directory: {error}"),
                    "make the directory readable",
                ),
                self.directory_line,
            )
        })?;
        let read = |command: &str| {
            let mut program = Program::from_command(command, &directory)?;
            program.sandboxed = sandboxed;
            program.locate().map(|_| program)
        };
        let program = read(&self.command).or_else(|error| {
            // Old lists say `python`, which many systems no longer have.
            let rest = self.command.trim_start().strip_prefix("python ");
            rest.and_then(|rest| read(&format!("python3 {rest}")).ok()).ok_or(error)
        });
        let program = program.map_err(wrong)?;
        named_files(&program).map_err(|refusal| at(refusal, self.command_line))?;
        Ok(program)
    }
}

/// Checks that a script or archive in the command exists and, for the sandbox, that it is in the bot's folder.
pub fn named_files(program: &Program) -> Result<(), BotRejection> {
    const ENDINGS: [&str; 8] = [".py", ".js", ".mjs", ".jar", ".rb", ".pl", ".lua", ".sh"];
    // A class path such as `build:library.jar` is a list of files.
    let is_file = |word: &&String| {
        !word.starts_with('-') && !word.contains(':') && ENDINGS.iter().any(|ending| word.ends_with(ending))
    };
    let Some(word) = program.words.get(1..).unwrap_or_default().iter().find(is_file) else { return Ok(()) };
    let path = program.folder.join(word);
    let Ok(real) = path.canonicalize() else {
        let what = format!("there is no file {}", path.display());
        return Err(BotRejection::new(what, "give a path relative to the bot's folder"));
    };
    let shown = ["/usr", "/bin", "/lib"].map(Path::new);
    let inside = real.starts_with(&program.folder) || shown.iter().any(|folder| real.starts_with(folder));
    if program.sandboxed && !inside {
        let what = format!("{word} is outside the bot's folder, and hidden from it");
        return Err(BotRejection::new(
            what,
            "run Agon in the bot's folder, or name the bot in a players.yml",
        ));
    }
    Ok(())
}

fn place(location: serde_saphyr::Location) -> (Option<u32>, Option<u32>) {
    let number = |n: u64| u32::try_from(n).ok();
    (number(location.line()), number(location.column()))
}

/// The YAML error as a rejection in plain words.
fn rejection_of(error: &Error) -> BotRejection {
    let error = error.without_snippet();
    let (line, column) = error.location().map_or((None, None), place);
    let refusal = match error {
        Error::SerdeUnknownField { field, expected, .. } => {
            let near = closest_name(field, expected.iter().copied())
                .map_or_else(String::new, |near| format!("did you mean {near}? "));
            BotRejection::new(
                format!("unknown key {field}"),
                format!("{near}keys are {}", expected.join(", ")),
            )
        }
        Error::SerdeMissingField { field, .. } if KEYS.contains(field) => {
            BotRejection::new(format!("a bot has no {field}"), NEEDED_KEYS)
        }
        Error::SerdeMissingField { field, .. } => {
            BotRejection::new(format!("the key {field} is missing"), EXPECTED_FORMAT)
        }
        Error::DuplicateMappingKey { key, .. } => {
            let key = key.as_deref().unwrap_or("a key");
            BotRejection::new(format!("duplicate key {key}"), "write each key once for each bot")
        }
        other => {
            let text = other.to_string();
            let what = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
            BotRejection::new(format!("is not a list of bots: {what}"), EXPECTED_FORMAT)
        }
    };
    refusal.at(line, column)
}

/// Aligns the keys of a bot with its first key, whatever their indentation is.
fn align_keys(text: &str) -> String {
    let mut column = None;
    let lines = text.lines().map(|line| {
        let bare = line.trim_start();
        if let Some(key) = bare.strip_prefix("- ") {
            column = Some(line.len() - key.trim_start().len());
        }
        let is_key = KEYS
            .iter()
            .any(|key| bare.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':')));
        match column {
            Some(column) if is_key => format!("{}{bare}\n", " ".repeat(column)),
            _ => format!("{line}\n"),
        }
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Result<Vec<PlayersEntry>, BotRejection> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("players.yml");
        fs::write(&path, text).unwrap();
        read(&path, None).map_err(|mut refusal| {
            refusal.file = refusal.file.map(|file| file.rsplit('/').next().unwrap_or_default().to_owned());
            refusal
        })
    }

    #[test]
    fn list_printed_in_the_contest_document_is_accepted() {
        let printed = "players:\n- name: MyBot\n    directory: mybot\n    command: ./mybot_racer\n";
        let proper =
            "players:\n  - name: MyBot\n    directory: mybot\n    command: ./mybot_racer\n    language: C\n";
        for text in [printed, proper] {
            let player = &list(text).unwrap()[0];
            assert_eq!((player.name.as_str(), player.command.as_str()), ("MyBot", "./mybot_racer"));
            assert!(player.directory.ends_with("mybot"));
            assert_eq!((player.directory_line, player.command_line), (3, 4));
        }
    }

    #[test]
    fn directories_are_resolved_against_the_list_or_a_base() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("players.yml");
        fs::write(
            &path,
            "players:\n  - {name: A, directory: a, command: x}\n  - {name: B@C, directory: b, command: x}\n",
        )
        .unwrap();
        let place = |name: &str| choose(&path, Some(name)).map(|player| player.directory);
        assert_eq!(place("A").unwrap(), folder.path().join("a"));
        assert_eq!(place("A@run").unwrap(), Path::new("run/a"));
        assert_eq!(place("B@C").unwrap(), folder.path().join("b"), "a name may contain an @");
        assert_eq!(place("B@C@run").unwrap(), Path::new("run/b"));
        assert!(place("D@run").is_err());
    }

    #[test]
    fn house_bot_needs_no_directory_and_is_not_the_lists_own_bot() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("players.yml");
        let own = "- {name: Me, directory: me, command: ./bot}\n";
        fs::write(&path, format!("players:\n{own}- {{name: Z, command: 'house:z-racer'}}\n")).unwrap();
        assert_eq!(choose(&path, None).unwrap().name, "Me");
        assert_eq!(choose(&path, Some("Z")).unwrap().house_bot(), Some("z-racer"));
        assert_eq!(choose(&path, Some("Me")).unwrap().house_bot(), None);
        fs::write(&path, "players:\n- {name: Me, command: ./bot}\n").unwrap();
        let refused = choose(&path, None).unwrap_err().to_string();
        assert!(refused.contains("line 2") && refused.contains("a bot has no directory"), "{refused}");
    }

    #[test]
    fn class_path_of_a_command_is_not_taken_for_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let program = |word: &str| Program::new(["java", "-cp", word, "Bot"], folder.path());
        assert_eq!(named_files(&program("build:library.jar")), Ok(()));
        assert!(named_files(&program("library.jar")).is_err());
    }

    #[test]
    fn errors_have_their_line() {
        let said = |text: &str| list(text).unwrap_err().to_string();
        assert_eq!(
            said("players:\n  - name: A\n    dirctory: a\n    command: x\n"),
            "players.yml, line 3, column 5: unknown key dirctory\nhint: did you mean directory? keys are name, directory, command, language"
        );
        assert_eq!(
            said("players:\n  - name: A\n    directory: a\n"),
            "players.yml, line 3, column 5: a bot has no command\nhint: give each bot name, directory and command"
        );
        assert_eq!(
            said(
                "players:\n  - {name: A, directory: a, command: x}\n  - {name: A, directory: b, command: y}\n"
            ),
            "players.yml, line 3, column 12: the name A is listed twice\nhint: give each bot a different name"
        );
        assert_eq!(
            said("players:\n  - name: A\n    name: B\n    directory: a\n    command: x\n"),
            "players.yml, line 3, column 5: duplicate key name\nhint: write each key once for each bot"
        );
        assert_eq!(said("players: []\n"), format!("players.yml: has no bots\nhint: {EXPECTED_FORMAT}"));
        assert!(
            said("bots: []\n")
                .starts_with("players.yml, line 1, column 1: unknown key bots\nhint: keys are players"),
            "{}",
            said("bots: []\n")
        );
        assert!(
            said("players:\n  - name: [\n").starts_with("players.yml, line "),
            "{}",
            said("players:\n  - name: [\n")
        );
        assert!(said("42\n").starts_with("players.yml, line 1"), "{}", said("42\n"));
        assert!(said("").starts_with("players.yml"), "{}", said(""));
        // The YAML reader limits aliases that multiply.
        let bomb = "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nplayers: [*b,*b,*b]\n";
        assert!(list(bomb).is_err());
    }
}
