//! `agon.toml`: describes how to build and run the bot in a folder.
//!
//! ```toml
//! command = "./bot"                      # run in the folder, without a shell
//! build = "g++ -O2 -o bot bot.cpp"       # run by the author; Agon never builds a bot to play
//! protocol = "json-lines"                # or the name of a game's text protocol
//! name = "my-bot"                        # default: the name of the folder
//! language = "C++"
//! ```

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use agon_core::Place;
use agon_core::assets::content_hash;
use agon_core::settings::closest_name;
use agon_core::text_format::shell_quote_path;
use agon_host::{Program, ProgramError, sandbox};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::MessageSink;
use crate::error::Diagnostic;

/// File name of the manifest in a bot's folder.
pub const FILE: &str = "agon.toml";

/// The JSON lines protocol of `docs/protocol.md`.
pub const JSON_LINES: &str = "json-lines";

/// Names of the text protocols of single games.
fn text_protocols() -> impl Iterator<Item = &'static str> {
    agon_games::infos().into_iter().filter_map(|info| info.bots.text_protocol)
}

const KEYS: [&str; 5] = ["command", "build", "protocol", "name", "language"];
/// Maximum size of a manifest in bytes.
const MAX_BYTES: u64 = 64 * 1024;
/// Maximum length of a bot's name in characters; a longer one would break tables.
const MAX_NAME_CHARS: usize = 60;

/// Build and run instructions of the bot in a folder.
#[derive(Debug)]
pub struct Manifest {
    /// Bot spec as the user wrote it.
    spec: String,
    folder: PathBuf,
    /// Whether the bot's folder is the base folder for relative paths.
    here: bool,
    command: String,
    build: Option<String>,
    json_lines: bool,
    name: String,
}

impl Manifest {
    /// Reads the `agon.toml` of a folder. Relative paths start at `from`.
    pub fn read(game: &str, bot: &str, from: &Path) -> Result<Self, Diagnostic> {
        // Errors show the path as the user wrote it.
        let file = Path::new(bot).join(FILE);
        let whole = from.join(&file);
        let unreadable = |e| Diagnostic::named_path("read", &file, &e, "check the read permission");
        if whole.metadata().map_err(unreadable)?.len() > MAX_BYTES {
            let what = format!("{}: larger than {MAX_BYTES} bytes", file.display());
            return Err(Diagnostic::wrong_use(
                what,
                "write only a few lines: command, build, protocol, name, language",
            ));
        }
        let text = fs::read(&whole).map_err(unreadable)?;
        let folder = from.join(bot).canonicalize().map_err(unreadable)?;
        let fields = ManifestFields::read(&file, &text)?;
        let named = || {
            folder.file_name().map_or_else(|| "bot".to_owned(), |name| name.to_string_lossy().into_owned())
        };
        let own = fields.protocol.as_deref().filter(|protocol| *protocol != JSON_LINES);
        let json_lines = own.is_none();
        if let Some(protocol) = own
            && agon_games::game_info(game)?.bots.text_protocol != Some(protocol)
        {
            return Err(Diagnostic::wrong_use(
                format!("{bot}: its {FILE} has protocol = \"{protocol}\", so it cannot play {game}"),
                format!("create a bot for this game with `agon new {game} DIR`"),
            ));
        }
        let name = fields.name.unwrap_or_else(named);
        Ok(Self {
            spec: bot.to_owned(),
            here: is_here(from, &folder),
            folder,
            command: fields.command,
            build: fields.build,
            json_lines,
            name,
        })
    }

    /// The program to run, if it exists.
    pub fn program(&self, notify: MessageSink<'_>) -> Result<Program, ProgramError> {
        let program = Program::from_command(&self.command, &self.folder);
        let Some(build) = &self.build else { return program };
        let unbuilt =
            |what| ProgramError { what, hint: format!("build it first: {}", self.shell_command(build)) };
        let program = match program {
            // A missing interpreter is a different problem from a bot that is not built.
            Err(error) if self.command.trim_start().starts_with(['.', '/']) => {
                return Err(unbuilt(error.what));
            }
            other => other?,
        };
        let products = products(&program.words);
        if let Some(missing) = products.iter().find(|path| !self.folder.join(path).exists()) {
            return Err(unbuilt(format!("{} does not exist", self.folder.join(missing).display())));
        }
        self.note_if_stale(build, &products, notify);
        Ok(program)
    }

    /// Rejects a command that names a program or archive outside of what the bot can see: its own folder and the system's programs. Such
    /// a path is not looked up, so the rejection is the same whether the file exists or not. For bots from strangers, who must not
    /// learn which files this machine has.
    pub fn check_own_view(&self) -> Result<(), ProgramError> {
        let words = Program::command_words(&self.command)?;
        match products(&words).into_iter().find(|path| !is_in_view(&self.folder, path)) {
            None => Ok(()),
            Some(path) => Err(ProgramError {
                what: format!("there is no file {path}"),
                hint: "give a path relative to the bot's folder".to_owned(),
            }),
        }
    }

    /// Name of the bot in tables.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the bot speaks the JSON lines protocol.
    pub fn json_lines(&self) -> bool {
        self.json_lines
    }

    /// A command line that works from the user's current folder.
    fn shell_command(&self, command: &str) -> String {
        if self.here {
            return command.to_owned();
        }
        format!("(cd {} && {command})", shell_quote_path(&self.spec))
    }

    /// Hash of the bot's files: the files at the top of its folder, and those in subfolders that its command names.
    /// Records and hidden files are not part of the bot.
    pub fn content_hash(&self, words: &[String]) -> Result<String, Diagnostic> {
        let mut content = Vec::new();
        for file in self.files(words)? {
            content.extend(file.strip_prefix(&self.folder).unwrap_or(&file).as_os_str().as_encoded_bytes());
            content.push(0);
            content.extend(content_hash(&fs::read(&file)?).into_bytes());
        }
        Ok(content_hash(&content))
    }

    /// The files that [`Self::content_hash`] covers, sorted.
    pub fn files(&self, words: &[String]) -> Result<Vec<PathBuf>, Diagnostic> {
        let mut files = files_in(&self.folder)?;
        for product in products(words) {
            // A manifest from an untrusted author may name any folder of this machine. Paths outside the bot's folder are ignored.
            let path = self.folder.join(product).canonicalize().unwrap_or_default();
            if path.starts_with(&self.folder) && path.is_dir() {
                collect(&path, &mut files)?;
            }
        }
        files.sort();
        Ok(files)
    }

    /// Absolute path of the bot's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Prints a note if a source file is newer than the program, because the author may have forgotten to build.
    fn note_if_stale(&self, build: &str, products: &[&str], notify: MessageSink<'_>) {
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
                let again = self.shell_command(build);
                notify(&format!(
                    "note: {}: {word} was changed after the last build; run: {again}",
                    self.spec
                ));
                return;
            }
        }
    }
}

/// Whether a bot's folder is the base folder for relative paths. An empty base means the current folder.
fn is_here(from: &Path, folder: &Path) -> bool {
    let from = if from.as_os_str().is_empty() { std::env::current_dir() } else { from.canonicalize() };
    from.is_ok_and(|from| from == folder)
}

/// Files that a command runs, without interpreters: its program if that is a path, and Java's class path.
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

/// Whether a path of a command is in the bot's folder or in a folder of system programs, judged by its text alone.
fn is_in_view(folder: &Path, path: &str) -> bool {
    let mut whole = PathBuf::new();
    for part in folder.join(path).components() {
        match part {
            Component::ParentDir => {
                whole.pop();
            }
            Component::CurDir => {}
            other => whole.push(other),
        }
    }
    whole.starts_with(folder) || sandbox::is_system_executable(&whole)
}

/// The files of a folder, without subfolders.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>, Diagnostic> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
    let hidden = |path: &Path| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    files.retain(|path| path.is_file() && !hidden(path) && path.extension().is_none_or(|e| e != "agon"));
    Ok(files)
}

/// The files of a folder and of all its subfolders.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Diagnostic> {
    files.extend(files_in(folder)?);
    for entry in fs::read_dir(folder)?.flatten() {
        // Links to folders are not followed, because they could form a cycle.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect(&entry.path(), files)?;
        }
    }
    Ok(())
}

/// `ManifestFields` of the file.
#[derive(Default)]
struct ManifestFields {
    command: String,
    build: Option<String>,
    protocol: Option<String>,
    name: Option<String>,
}

impl ManifestFields {
    /// Parses the file, and reports all errors at once, in the order of the lines.
    fn read(file: &Path, text: &[u8]) -> Result<Self, Diagnostic> {
        let place = || Place::file(file.display().to_string());
        let Ok(text) = std::str::from_utf8(text) else {
            return Err(Diagnostic::wrong_use("not UTF-8 text", "save it as UTF-8").at(place()));
        };
        let line_of = |offset: usize| 1 + text.bytes().take(offset).filter(|&byte| byte == b'\n').count();
        let table = DeTable::parse(text).map_err(|error| {
            let line = line_of(error.span().map_or(0, |span| span.start));
            let what = error.message().lines().next().unwrap_or_default().to_owned();
            Diagnostic::wrong_use(what, "write each line as key = \"value\"").at(place().line(line))
        })?;
        let mut fields = Self::default();
        let mut problems: Vec<(usize, String, String)> = Vec::new();
        for (key, value) in table.get_ref() {
            let line = line_of(key.span().start);
            if let Err((what, hint)) = fields.set_field(key.get_ref(), value) {
                problems.push((line, what, hint));
            }
        }
        if !table.get_ref().contains_key("command") {
            let hint = "add the command that runs the bot, such as command = \"node bot.js\"";
            problems.push((line_of(text.len()), "`command` is missing".to_owned(), hint.to_owned()));
        }
        problems.sort();
        let errors = problems
            .into_iter()
            .map(|(line, what, hint)| Diagnostic::wrong_use(what, hint).at(place().line(line)));
        Diagnostic::several(errors).map_or(Ok(fields), Err)
    }

    /// Takes over one line of the file. The error is the problem and a hint.
    fn set_field(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Result<(), (String, String)> {
        if !KEYS.contains(&key) {
            let known = format!("use one of {}", KEYS.join(", "));
            let hint = closest_name(key, KEYS).map_or(known, |near| format!("did you mean `{near}`?"));
            return Err((format!("unknown key `{key}`"), hint));
        }
        let DeValue::String(text) = value.get_ref() else {
            return Err((format!("`{key}` is not text"), format!("write it in quotes: {key} = \"...\"")));
        };
        let text = text.trim().to_owned();
        if text.is_empty() {
            return Err((format!("`{key}` is empty"), format!("fill it in, or remove `{key}`")));
        }
        if text.chars().any(char::is_control) {
            return Err((
                format!("`{key}` contains a control character"),
                "write one line of plain text".to_owned(),
            ));
        }
        match key {
            "command" => self.command = text,
            "build" => self.build = Some(text),
            "protocol" if text == JSON_LINES || text_protocols().any(|known| known == text) => {
                self.protocol = Some(text);
            }
            "protocol" => {
                let of_games: Vec<String> = text_protocols().map(|known| format!("\"{known}\"")).collect();
                let of_games = of_games.join(" or ");
                let all =
                    format!("use protocol = \"{JSON_LINES}\" or {of_games} (that game's text protocol)");
                let hint = closest_name(&text, std::iter::once(JSON_LINES).chain(text_protocols()))
                    .map_or(all, |near| format!("did you mean \"{near}\"?"));
                return Err((format!("unknown protocol \"{text}\""), hint));
            }
            "name" if text.chars().count() > MAX_NAME_CHARS => {
                return Err((
                    format!("the name is longer than {MAX_NAME_CHARS} characters"),
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
        ManifestFields::read(Path::new("agon.toml"), text.as_bytes()).err().unwrap().to_string()
    }

    #[test]
    fn files_outside_the_bots_folder_are_never_read() {
        let place = tempfile::tempdir().unwrap();
        let (bot, outside) = (place.path().join("bot"), place.path().join("outside"));
        fs::create_dir_all(bot.join("classes")).unwrap();
        fs::create_dir_all(&outside).unwrap();
        let hash = |path: &str| {
            let text = format!("command = \"sh -cp {path}\"\n");
            fs::write(bot.join(FILE), text).unwrap();
            let manifest = Manifest::read("connect-five", "bot", place.path()).unwrap();
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
    fn own_view_is_the_bots_folder_and_the_systems_programs() {
        let place = tempfile::tempdir().unwrap();
        let (bot, secret) = (place.path().join("bot"), place.path().join("secret"));
        fs::create_dir_all(&bot).unwrap();
        fs::write(&secret, "").unwrap();
        let refused = |command: &str| {
            fs::write(bot.join(FILE), format!("command = '{command}'\nbuild = \"make\"\n")).unwrap();
            let manifest = Manifest::read("connect-five", "bot", place.path()).unwrap();
            manifest.check_own_view().err().map(|error| (error.what, error.hint))
        };
        for command in [
            "./bot",
            "bin/bot",
            "/usr/bin/python3 bot.py",
            "python3 /etc/passwd",
            "java -cp build:lib/a.jar B",
            "a/../b",
        ] {
            assert_eq!(refused(command), None, "{command}");
        }
        let (there, not_there) =
            (secret.display().to_string(), place.path().join("none").display().to_string());
        for (one, other) in [
            (there.clone(), not_there.clone()),
            ("../secret".to_owned(), "../none".to_owned()),
            ("/usr/bin/../../etc/passwd".to_owned(), "/usr/bin/../../etc/none".to_owned()),
            (format!("java -jar {there}"), format!("java -jar {not_there}")),
            (format!("java -cp a:{there} B"), format!("java -cp a:{not_there} B")),
        ] {
            let (one, other) = (refused(&one).unwrap(), refused(&other).unwrap());
            assert_eq!(one.0.replace("secret", "none").replace("passwd", "none"), other.0);
            assert_eq!(one.1, other.1);
        }
    }

    #[test]
    fn mistakes_are_reported_with_line_and_hint() {
        for (text, wanted) in [
            (
                "comand = \"./bot\"\n",
                "agon.toml:1: unknown key `comand`\nhint: did you mean `command`?\nagon.toml:2: `command` is missing",
            ),
            ("# bot\ncommand = 7\n", "agon.toml:2: `command` is not text\nhint: write it in quotes"),
            ("command = \"\"\n", "agon.toml:1: `command` is empty"),
            (
                "command = \"a b\"\n\nprotocol = \"json-line\"",
                "agon.toml:3: unknown protocol \"json-line\"\nhint: did you mean \"json-lines\"?",
            ),
            (
                "command = \"a b\"\nprotocol = \"xyz\"",
                "agon.toml:2: unknown protocol \"xyz\"\nhint: use protocol = \"json-lines\" or \"word-racer\"",
            ),
            ("command = ./bot\n", "agon.toml:1: "),
            ("command = \"a b\"\ncommand = \"c d\"\n", "agon.toml:2: duplicate key"),
            ("command = \"a b\"\n[name]\nx = 1\n", "agon.toml:2: `name` is not text"),
            ("command = \"a\\nb\"\n", "agon.toml:1: `command` contains a control character"),
            ("", "agon.toml:1: `command` is missing"),
        ] {
            assert!(refused(text).starts_with(wanted), "{text}: {}", refused(text));
        }
        let long = format!("command = \"a\"\nname = \"{}\"", "x".repeat(61));
        assert!(refused(&long).contains("agon.toml:2: the name is longer"));
        assert!(ManifestFields::read(Path::new("agon.toml"), b"command = \"\xff\"").is_err());
    }

    #[test]
    fn products_are_the_program_path_or_the_class_path() {
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
