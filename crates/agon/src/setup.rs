//! From words on the command line to a game: seed, settings, seats.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::path::Path;

use agon_core::assets::content_hash;
use agon_core::settings::Kind;
use agon_core::{Assets, GameInfo, Settings};
use agon_engine::{ProgramSeat, Seating};
use agon_host::Program;

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
            texts.push((name, content_hash(&content)));
            assets.insert(name, content);
        } else {
            texts.push((name, text.to_owned()));
        }
    }
    let settings = Settings::parse(info.settings, texts.iter().map(|(name, text)| (*name, text.as_str())))?;
    Ok((settings, assets))
}

/// Reads a BOT.
pub fn seating(bot: &str, sandbox: Sandbox) -> Result<Seating, Failure> {
    if let Some(name) = bot.strip_prefix("house:") {
        return Ok(Seating::House(name.to_owned()));
    }
    if bot == "human" {
        return Ok(Seating::Human);
    }
    let (command, json_lines) = match bot.strip_prefix("json:") {
        Some(command) => (command, true),
        None => (bot, false),
    };
    // One word is a command only if it is a path: `random` is more likely a house bot without its `house:`.
    if !command.contains([' ', '/']) {
        let hint = match command.rsplit_once('.') {
            Some((_, "py")) if Path::new(command).exists() => {
                format!("a command starts it: \"python3 {command}\"")
            }
            _ if Path::new(command).exists() => format!("a command in this folder is written ./{command}"),
            _ => {
                format!("house bots are written house:{command}; `agon bots GAME` lists them; `human` is you")
            }
        };
        return Err(Failure::wrong_use(format!("`{bot}` is no bot"), hint));
    }
    program(bot, command, json_lines, sandbox).map(Seating::Program)
}

/// A command in the current folder.
fn program(bot: &str, command: &str, json_lines: bool, sandbox: Sandbox) -> Result<ProgramSeat, Failure> {
    let folder = std::env::current_dir()?;
    let refused =
        |error: agon_host::ProgramError| Failure::wrong_use(format!("{bot}: {}", error.what), error.hint);
    let mut program = Program::from_command(command, &folder).map_err(refused)?;
    if sandbox == Sandbox::On {
        program = program.guarded();
        program.locate().map_err(refused)?;
        require_layers()?;
    }
    // The files a command names are what the bot is made of; its name is that of the last of them.
    let files: Vec<&String> = program.words.iter().filter(|word| folder.join(word).is_file()).collect();
    let stem = |word: &String| Path::new(word).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = files.last().copied().or(program.words.first()).and_then(stem).unwrap_or_default();
    let mut content = program.words.join("\0").into_bytes();
    for file in &files {
        content.extend(std::fs::read(folder.join(file)).unwrap_or_default());
    }
    let hash = content_hash(&content);
    Ok(ProgramSeat { name, spec: bot.to_owned(), hash, program, json_lines })
}

/// A machine that cannot guard a bot is found out before any game, not at the bot's start.
fn require_layers() -> Result<(), Failure> {
    use agon_host::sandbox::{Kind, probe};
    let broke = |message: String| Failure { code: crate::failure::BROKE, message };
    let hint = "`agon doctor` says how to get it; --sandbox off runs programs you trust without it";
    let layers = probe().map_err(|e| broke(format!("the sandbox does not work here: {e}\nhint: {hint}")))?;
    let required = [Kind::Landlock, Kind::Seccomp, Kind::Limits, Kind::Privileges];
    match layers.iter().find(|layer| required.contains(&layer.kind) && !layer.active) {
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
