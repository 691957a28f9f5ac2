//! `agon.toml`: a folder that says how the bot in it is built and run.
//!
//! ```toml
//! command = "./bot"                      # run in the folder, without a shell
//! build = "g++ -O2 -o bot bot.cpp"       # what its author runs first; Agon never runs it to play
//! protocol = "json-lines"                # or the name of the game's own text protocol
//! name = "my-bot"                        # else the folder's
//! language = "C++"
//! ```

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use agon_core::ErrorKind;
use agon_core::assets::content_hash;
use agon_core::settings::closest_name;
use agon_host::{Program, ProgramError};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::MessageSink;
use crate::error::Failure;

/// Its name in a bot's folder.
pub const FILE: &str = "agon.toml";

/// The JSON lines of `docs/protocol.md`.
pub const JSON_LINES: &str = "json-lines";

/// Names of the text protocols of single games.
fn text_protocols() -> impl Iterator<Item = &'static str> {
    agon_games::infos().into_iter().filter_map(|info| info.bots.text_protocol)
}

const KEYS: [&str; 5] = ["command", "build", "protocol", "name", "language"];
/// A file larger than this was not written by hand.
const MOST_BYTES: u64 = 64 * 1024;
/// A longer name would push everything else out of a table.
const LONGEST_NAME: usize = 60;

/// How the bot in a folder is built and run.
#[derive(Debug)]
pub struct Manifest {
    /// As the bot was named.
    spec: String,
    folder: PathBuf,
    /// Whether that is the folder that names are read from.
    here: bool,
    command: String,
    build: Option<String>,
    json_lines: bool,
    name: String,
}

impl Manifest {
    /// The one of a BOT that is a folder with an `agon.toml`; `None` for every other BOT. A relative path is read from `from`.
    pub fn of(game: &str, bot: &str, from: &Path) -> Result<Option<Self>, Failure> {
        // Shown as it was named.
        let file = Path::new(bot).join(FILE);
        let whole = from.join(&file);
        if !whole.is_file() {
            return Ok(None);
        }
        let unreadable = |e| Failure::io("read", &file, &e, "may you read it?");
        if whole.metadata().map_err(unreadable)?.len() > MOST_BYTES {
            let what = format!("{}: larger than {MOST_BYTES} bytes", file.display());
            return Err(Failure::wrong_use(
                what,
                "it holds a few lines: command, build, protocol, name, language",
            ));
        }
        let text = fs::read(&whole).map_err(unreadable)?;
        let folder = from.join(bot).canonicalize().map_err(unreadable)?;
        let fields = Fields::read(&file, &text)?;
        let named = || {
            folder.file_name().map_or_else(|| "bot".to_owned(), |name| name.to_string_lossy().into_owned())
        };
        let own = fields.protocol.as_deref().filter(|protocol| *protocol != JSON_LINES);
        let json_lines = own.is_none();
        if let Some(protocol) = own
            && agon_games::game_info(game)?.bots.text_protocol != Some(protocol)
        {
            return Err(Failure::wrong_use(
                format!("{bot}: its {FILE} says protocol = \"{protocol}\": it cannot play {game}"),
                format!("`agon new {game} DIR` writes a bot that can"),
            ));
        }
        let name = fields.name.unwrap_or_else(named);
        Ok(Some(Self {
            spec: bot.to_owned(),
            here: is_here(from, &folder),
            folder,
            command: fields.command,
            build: fields.build,
            json_lines,
            name,
        }))
    }

    /// What is to be run, if it is there.
    pub fn program(&self, tell: MessageSink<'_>) -> Result<Program, ProgramError> {
        let program = Program::from_command(&self.command, &self.folder);
        let Some(build) = &self.build else { return program };
        let unbuilt =
            |what| ProgramError { what, hint: format!("build it first: {}", self.in_folder(build)) };
        let program = match program {
            // A missing interpreter is another matter than a missing program of the author's own.
            Err(error) if self.command.trim_start().starts_with(['.', '/']) => {
                return Err(unbuilt(error.what));
            }
            other => other?,
        };
        let products = products(&program.words);
        if let Some(missing) = products.iter().find(|path| !self.folder.join(path).exists()) {
            return Err(unbuilt(format!("there is no {}", self.folder.join(missing).display())));
        }
        self.note_if_stale(build, &products, tell);
        Ok(program)
    }

    /// Its name in tables.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is spoken to by JSON lines.
    pub fn json_lines(&self) -> bool {
        self.json_lines
    }

    /// A command line that works from where the person is.
    fn in_folder(&self, command: &str) -> String {
        if self.here {
            return command.to_owned();
        }
        format!("(cd {} && {command})", quoted(&self.spec))
    }

    /// What the bot is made of: the files at the top of its folder, and those in folders of its own that its command names.
    /// Records and hidden files lie there by chance.
    pub fn content_hash(&self, words: &[String]) -> Result<String, Failure> {
        let mut content = Vec::new();
        for file in self.files(words)? {
            content.extend(file.strip_prefix(&self.folder).unwrap_or(&file).as_os_str().as_encoded_bytes());
            content.push(0);
            content.extend(content_hash(&fs::read(&file)?).into_bytes());
        }
        Ok(content_hash(&content))
    }

    /// The files that [`Self::content_hash`] is about, in order.
    pub fn files(&self, words: &[String]) -> Result<Vec<PathBuf>, Failure> {
        let mut files = files_in(&self.folder)?;
        for product in products(words) {
            // A bot that came from somebody else may name any folder of this machine: none of that is the bot's, or is read.
            let path = self.folder.join(product).canonicalize().unwrap_or_default();
            if path.starts_with(&self.folder) && path.is_dir() {
                collect(&path, &mut files)?;
            }
        }
        files.sort();
        Ok(files)
    }

    /// Where the bot is: a whole path.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A changed source that was not built again is the commonest way to wonder why nothing changes.
    fn note_if_stale(&self, build: &str, products: &[&str], tell: MessageSink<'_>) {
        let changed = |path: &Path| path.metadata().and_then(|about| about.modified()).ok();
        let built: Option<SystemTime> = products
            .iter()
            .filter_map(|path| {
                let path = self.folder.join(path);
                let mut files = Vec::new();
                if path.is_dir() {
                    collect(&path, &mut files).ok()?;
                } else {
                    files.push(path);
                }
                files.iter().filter_map(|file| changed(file)).max()
            })
            .min();
        let Some(built) = built else { return };
        for word in build
            .split_whitespace()
            .filter(|word| !products.iter().any(|p| p.trim_start_matches("./") == *word))
        {
            let source = self.folder.join(word);
            if source.is_file() && changed(&source).is_some_and(|time| time > built) {
                let again = self.in_folder(build);
                tell(&format!("note: {}: {word} was changed after the last build: {again}", self.spec));
                return;
            }
        }
    }
}

/// Whether a bot's folder is the one that names are read from; an empty name of it means the current one.
fn is_here(from: &Path, folder: &Path) -> bool {
    let from = if from.as_os_str().is_empty() { std::env::current_dir() } else { from.canonicalize() };
    from.is_ok_and(|from| from == folder)
}

/// What a command runs, besides interpreters: its program if that is a path, and Java's class path.
fn products(words: &[String]) -> Vec<&str> {
    let mut products: Vec<&str> =
        words.first().map(String::as_str).filter(|word| word.contains('/')).into_iter().collect();
    for pair in words.windows(2) {
        if matches!(pair[0].as_str(), "-cp" | "-classpath" | "--class-path" | "-jar") {
            products.extend(pair[1].split(':').filter(|path| !path.is_empty() && !path.contains('*')));
        }
    }
    products
}

/// The files of a folder, without those in folders of its own.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
    let hidden = |path: &Path| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    files.retain(|path| path.is_file() && !hidden(path) && path.extension().is_none_or(|e| e != "agon"));
    Ok(files)
}

/// The files of a folder and of all folders in it.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    files.extend(files_in(folder)?);
    for entry in fs::read_dir(folder)?.flatten() {
        // A link to a folder could lead round in a circle.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect(&entry.path(), files)?;
        }
    }
    Ok(())
}

/// A path as a shell reads it.
pub fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+,@%".contains(c);
    if !path.is_empty() && !path.starts_with('-') && path.chars().all(plain) {
        return path.to_owned();
    }
    // A path that begins with a dash would be read as an option.
    let dash = if path.starts_with('-') { "./" } else { "" };
    format!("'{dash}{}'", path.replace('\'', r"'\''"))
}

/// What stands in the file.
#[derive(Default)]
struct Fields {
    command: String,
    build: Option<String>,
    protocol: Option<String>,
    name: Option<String>,
}

impl Fields {
    /// Reads them; all that is wrong is told at once, in the order of the lines.
    fn read(file: &Path, text: &[u8]) -> Result<Self, Failure> {
        let at = |line: usize| format!("{}:{line}", file.display());
        let Ok(text) = std::str::from_utf8(text) else {
            return Err(Failure::wrong_use(
                format!("{}: not UTF-8 text", file.display()),
                "save it as UTF-8",
            ));
        };
        let line_of = |offset: usize| 1 + text.bytes().take(offset).filter(|&byte| byte == b'\n').count();
        let table = DeTable::parse(text).map_err(|error| {
            let line = line_of(error.span().map_or(0, |span| span.start));
            let what = error.message().lines().next().unwrap_or_default().to_owned();
            Failure::wrong_use(format!("{}: {what}", at(line)), "lines are written key = \"value\"")
        })?;
        let mut fields = Self::default();
        let mut troubles: Vec<(usize, String, String)> = Vec::new();
        for (key, value) in table.get_ref() {
            let line = line_of(key.span().start);
            if let Err((what, hint)) = fields.take(key.get_ref(), value) {
                troubles.push((line, what, hint));
            }
        }
        if !table.get_ref().contains_key("command") {
            let hint = "say how the bot is run, such as command = \"node bot.js\"";
            troubles.push((line_of(text.len()), "there is no `command`".to_owned(), hint.to_owned()));
        }
        if troubles.is_empty() {
            return Ok(fields);
        }
        troubles.sort();
        let lines = troubles.iter().map(|(line, what, hint)| format!("{}: {what}\nhint: {hint}", at(*line)));
        Err(Failure { kind: ErrorKind::Usage, message: lines.collect::<Vec<_>>().join("\n") })
    }

    /// One line of the file; or what is wrong with it, and what to do.
    fn take(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Result<(), (String, String)> {
        if !KEYS.contains(&key) {
            let known = format!("the keys are {}", KEYS.join(", "));
            let hint = closest_name(key, KEYS).map_or(known, |near| format!("did you mean `{near}`?"));
            return Err((format!("`{key}` is no key"), hint));
        }
        let DeValue::String(text) = value.get_ref() else {
            return Err((format!("`{key}` is not text"), format!("write it in quotes: {key} = \"...\"")));
        };
        let text = text.trim().to_owned();
        if text.is_empty() {
            return Err((
                format!("`{key}` is empty"),
                format!("fill it in, or leave `{key}` out if it has no use"),
            ));
        }
        if text.chars().any(char::is_control) {
            return Err((
                format!("`{key}` holds a control character"),
                "keep it to one line of plain text".to_owned(),
            ));
        }
        match key {
            "command" => self.command = text,
            "build" => self.build = Some(text),
            "protocol" if text == JSON_LINES || text_protocols().any(|known| known == text) => {
                self.protocol = Some(text);
            }
            "protocol" => {
                let own: String = text_protocols().map(|known| format!(" or \"{known}\"")).collect();
                let all = format!("protocol = \"{JSON_LINES}\"{own} (that game's own lines)");
                let hint = closest_name(&text, std::iter::once(JSON_LINES).chain(text_protocols()))
                    .map_or(all, |near| format!("did you mean \"{near}\"?"));
                return Err((format!("there is no protocol \"{text}\""), hint));
            }
            "name" if text.chars().count() > LONGEST_NAME => {
                return Err((
                    format!("the name is longer than {LONGEST_NAME} characters"),
                    "shorten it".to_owned(),
                ));
            }
            "name" => self.name = Some(text),
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn refused(text: &str) -> String {
        Fields::read(Path::new("agon.toml"), text.as_bytes()).err().unwrap().message
    }

    #[test]
    fn folders_that_are_not_the_bots_are_never_read() {
        let place = tempfile::tempdir().unwrap();
        let (bot, outside) = (place.path().join("bot"), place.path().join("outside"));
        fs::create_dir_all(bot.join("classes")).unwrap();
        fs::create_dir_all(&outside).unwrap();
        let hash = |path: &str| {
            let text = format!("command = \"sh -cp {path}\"\n");
            fs::write(bot.join(FILE), text).unwrap();
            let manifest = Manifest::of("connect-five", "bot", place.path()).unwrap().unwrap();
            manifest.content_hash(&["sh", "-cp", path].map(str::to_owned)).unwrap()
        };
        let whole = outside.display().to_string();
        for (path, counts) in
            [("classes", true), ("../outside", false), (&whole, false), ("classes/../../outside", false)]
        {
            for folder in [bot.join("classes"), outside.clone()] {
                fs::write(folder.join("Bot.class"), "one").unwrap();
            }
            let before = hash(path);
            for folder in [bot.join("classes"), outside.clone()] {
                fs::write(folder.join("Bot.class"), "two").unwrap();
            }
            assert_eq!(before != hash(path), counts, "{path}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_by_line_with_what_to_do() {
        for (text, wanted) in [
            (
                "comand = \"./bot\"\n",
                "agon.toml:1: `comand` is no key\nhint: did you mean `command`?\nagon.toml:2: there is no `command`",
            ),
            ("# bot\ncommand = 7\n", "agon.toml:2: `command` is not text\nhint: write it in quotes"),
            ("command = \"\"\n", "agon.toml:1: `command` is empty"),
            (
                "command = \"a b\"\n\nprotocol = \"json-line\"",
                "agon.toml:3: there is no protocol \"json-line\"\nhint: did you mean \"json-lines\"?",
            ),
            (
                "command = \"a b\"\nprotocol = \"xyz\"",
                "agon.toml:2: there is no protocol \"xyz\"\nhint: protocol = \"json-lines\" or \"word-racer\"",
            ),
            ("command = ./bot\n", "agon.toml:1: "),
            ("command = \"a b\"\ncommand = \"c d\"\n", "agon.toml:2: duplicate key"),
            ("command = \"a b\"\n[name]\nx = 1\n", "agon.toml:2: `name` is not text"),
            ("command = \"a\\nb\"\n", "agon.toml:1: `command` holds a control character"),
            ("", "agon.toml:1: there is no `command`"),
        ] {
            assert!(refused(text).starts_with(wanted), "{text}: {}", refused(text));
        }
        let long = format!("command = \"a\"\nname = \"{}\"", "x".repeat(61));
        assert!(refused(&long).contains("agon.toml:2: the name is longer"));
        assert!(Fields::read(Path::new("agon.toml"), b"command = \"\xff\"").is_err());
    }

    #[test]
    fn paths_are_quoted_where_a_shell_would_stumble() {
        assert_eq!(quoted("bots/my-bot_2.0"), "bots/my-bot_2.0");
        assert_eq!(quoted("my bot"), "'my bot'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted("-bot"), "'./-bot'");
        assert_eq!(quoted("$HOME"), "'$HOME'");
    }

    #[test]
    fn what_a_command_runs_is_its_program_or_its_class_path() {
        let products = |command: &str| {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            products(&words).join(" ")
        };
        assert_eq!(products("./bot -x"), "./bot");
        assert_eq!(products("node bot.js"), "");
        assert_eq!(products("java -Xmx1g -cp build:lib/a.jar:lib/* Bot"), "build lib/a.jar");
        assert_eq!(products("java -jar bot.jar"), "bot.jar");
    }
}
