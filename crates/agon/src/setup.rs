//! From words on the command line to a game: seed, settings, seats.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::path::{Path, PathBuf};

use agon_core::assets::content_hash;
use agon_core::settings::Kind;
use agon_core::{Assets, GameInfo, Settings};
use agon_engine::{ProgramSeat, Seating};
use agon_host::{Program, ProgramError};

use crate::cli::Sandbox;
use crate::failure::Failure;

/// Reads a seed; without one, draws it.
pub fn seed(text: Option<&str>) -> Result<u64, Failure> {
    let Some(text) = text else {
        return Ok(RandomState::new().build_hasher().finish() >> 32);
    };
    text.parse().map_err(|_| {
        Failure::wrong_use(
            format!("--seed: `{text}` is no seed"),
            "a whole number from 0 to 18446744073709551615",
        )
    })
}

/// Reads `key=value` pairs into a game's settings, and the files that some of them name.
pub fn settings(info: &GameInfo, pairs: &[String]) -> Result<(Settings, Assets), Failure> {
    let mut assets = Assets::none();
    let mut texts = Vec::new();
    for pair in pairs {
        let Some((name, text)) = pair.split_once('=') else {
            return Err(Failure::wrong_use(format!("--set: `{pair}` has no `=`"), "write it as key=value"));
        };
        let is_asset = info.settings.iter().any(|spec| spec.name == name && spec.kind == Kind::Asset);
        if is_asset && text != "built-in" {
            let path = Path::new(text);
            let content = std::fs::read(path)
                .map_err(|e| Failure::io("read", path, &e, "is the path right, and may you read it?"))?;
            texts.push((name, assets.insert(content)));
        } else {
            texts.push((name, text.to_owned()));
        }
    }
    let settings = Settings::parse(info.settings, texts.iter().map(|(name, text)| (*name, text.as_str())))?;
    Ok((settings, assets))
}

/// Reads a BOT.
pub fn seating(game: &str, bot: &str, sandbox: Sandbox) -> Result<Seating, Failure> {
    if let Some(name) = bot.strip_prefix("house:") {
        return Ok(Seating::House(name.to_owned()));
    }
    if bot == "human" {
        return Ok(Seating::Human);
    }
    if let Some((path, class)) = python_bot(bot) {
        return python(game, bot, path, class, sandbox).map(Seating::Program);
    }
    let (command, json_lines) = match bot.strip_prefix("json:") {
        Some(command) => (command, true),
        None => (bot, false),
    };
    // One word is a command only if it is a path: `random` is more likely a house bot without its `house:`.
    if !command.contains([' ', '/']) {
        let hint = if Path::new(command).exists() {
            format!("a program in this folder is written ./{command}")
        } else {
            format!("house bots are written house:{command}; `agon bots GAME` lists them; `human` is you")
        };
        return Err(Failure::wrong_use(format!("`{bot}` is no bot"), hint));
    }
    program(bot, command, json_lines, sandbox).map(Seating::Program)
}

/// A folder or a `.py` file, perhaps with a class. Word Racer's scripts are commands: they have no Python API.
fn python_bot(bot: &str) -> Option<(&Path, Option<&str>)> {
    let whole = Path::new(bot);
    if whole.is_dir() || (whole.is_file() && whole.extension().is_some_and(|e| e == "py")) {
        return Some((whole, None));
    }
    let (path, class) = bot.rsplit_once(':')?;
    let is_class = !class.is_empty() && class.chars().all(|c| c == '_' || c.is_alphanumeric());
    (is_class && Path::new(path).exists()).then_some((Path::new(path), Some(class)))
}

fn python(
    game: &str,
    bot: &str,
    path: &Path,
    class: Option<&str>,
    sandbox: Sandbox,
) -> Result<ProgramSeat, Failure> {
    if game == "word-racer" {
        let hint = format!("a command starts it: \"python3 {}\"", path.display());
        return Err(Failure::wrong_use(
            format!("{bot}: Word Racer's bots read lines; there is no Python API for it"),
            hint,
        ));
    }
    let program = guard(bot, agon_host::python::bot(game, path, class), sandbox)?;
    let whole = std::fs::canonicalize(path)?;
    let name = class.map_or_else(|| stem(&whole), str::to_owned);
    let mut content = class.unwrap_or_default().as_bytes().to_vec();
    let files = python_files(&whole)?;
    let mut room = MOST_CODE;
    for file in files {
        let size = std::fs::metadata(&file)?.len();
        room = room.checked_sub(size).ok_or_else(|| {
            let what = format!("{bot}: its files hold more than {} MiB", MOST_CODE >> 20);
            Failure::wrong_use(
                what,
                format!("leave out what it does not need, first of all {}", file.display()),
            )
        })?;
        content.extend(std::fs::read(&file)?);
    }
    Ok(ProgramSeat {
        name,
        spec: bot.to_owned(),
        hash: content_hash(&content),
        program,
        json_lines: true,
        forgets: true,
    })
}

/// No bot is larger. A file without content can say it has terabytes.
const MOST_CODE: u64 = 256 << 20;

/// What a Python bot is made of: its file, or all `.py` and `.json` files at the top of its folder, in order.
fn python_files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files: Vec<PathBuf> = std::fs::read_dir(path)?.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.is_file() && file.extension().is_some_and(|e| e == "py" || e == "json"));
    files.sort();
    Ok(files)
}

/// A command in the current folder.
fn program(bot: &str, command: &str, json_lines: bool, sandbox: Sandbox) -> Result<ProgramSeat, Failure> {
    let folder = std::env::current_dir()?;
    let program = guard(bot, Program::from_command(command, &folder), sandbox)?;
    // The files a command names are what the bot is made of; its name is that of the last of them.
    let files: Vec<&String> = program.words.iter().filter(|word| folder.join(word).is_file()).collect();
    let name = files
        .last()
        .copied()
        .or(program.words.first())
        .map_or_else(String::new, |word| stem(Path::new(word)));
    let mut content = program.words.join("\0").into_bytes();
    for file in &files {
        content.extend(std::fs::read(folder.join(file)).unwrap_or_default());
    }
    let hash = content_hash(&content);
    Ok(ProgramSeat { name, spec: bot.to_owned(), hash, program, json_lines, forgets: false })
}

/// The program behind the sandbox, unless that is off, if it can be run there.
fn guard(bot: &str, program: Result<Program, ProgramError>, sandbox: Sandbox) -> Result<Program, Failure> {
    let refused = |error: ProgramError| Failure::wrong_use(format!("{bot}: {}", error.what), error.hint);
    let program = program.map_err(refused)?;
    if sandbox == Sandbox::Off {
        return Ok(program);
    }
    let program = program.guarded();
    program.locate().map_err(refused)?;
    require_layers()?;
    Ok(program)
}

/// A file's or folder's name without its ending. It becomes a bot's name: nothing in it that a terminal would obey.
fn stem(path: &Path) -> String {
    let tame = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().chars().map(tame).collect())
}

/// A machine that cannot guard a bot is found out before any game, not at the bot's start.
fn require_layers() -> Result<(), Failure> {
    use agon_host::sandbox::{REQUIRED, probe};
    let broke = |message: String| Failure { code: crate::failure::BROKE, message };
    let hint = "`agon doctor` says how to get it; --sandbox off runs programs you trust without it";
    let layers = probe().map_err(|e| broke(format!("the sandbox does not work here: {e}\nhint: {hint}")))?;
    match layers.iter().find(|layer| REQUIRED.contains(&layer.kind) && !layer.active) {
        None => Ok(()),
        Some(layer) => {
            Err(broke(format!("the sandbox lacks {}: {}\nhint: {hint}", layer.kind, layer.detail)))
        }
    }
}

/// How many games at once: one for each core unless said otherwise.
pub fn jobs(wanted: Option<usize>) -> Result<usize, Failure> {
    match wanted {
        Some(0) => Err(Failure::wrong_use("--jobs: at least one", "leave it out to use every core")),
        Some(n) => Ok(n.min(256)),
        None => Ok(std::thread::available_parallelism().map_or(1, usize::from)),
    }
}
