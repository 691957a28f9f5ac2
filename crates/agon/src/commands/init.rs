//! `agon init GAME FILE`: writes a game's competition file.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use agon_bots::{BotSource, Diagnostic};
use agon_competition::file::mistakes;
use agon_core::GameInfo;
use agon_core::text_format::shell_quote_path;
use agon_league::config::CompetitionConfig;
use agon_league::config::edit::toml_quote;
use serde_json::json;

use crate::args::Init;
use crate::output;
use crate::output_file::OutputFile;

/// Writes the file, and prints the next steps.
pub fn run(args: &Init) -> Result<(), Diagnostic> {
    let info = agon_engine::any_game(&args.game)?.info();
    let shown = args.file.display().to_string();
    if fs::symlink_metadata(&args.file).is_ok() {
        let what = format!("{shown} already exists; nothing was written");
        return Err(Diagnostic::wrong_use(what, "name another file, or remove it first"));
    }
    let preset = if args.short { info.competition.short } else { info.competition.preset };
    let own = own_entrants(args, info, preset)?;
    let file = shell_quote_path(&shown);
    let text = with_own_entrants(&preset.replace("FILE", &file), &own);
    let competition = CompetitionConfig::read(&text).map_err(|found| mistakes(&args.file, &found))?;
    OutputFile::write(&args.file, "the competition", text.as_bytes())?;
    let next = next_steps(&competition, &file);
    if args.json {
        let commands: Vec<&String> = next.iter().map(|(command, _)| command).collect();
        return output::print_json("init", json!({"game": info.id, "file": shown, "next": commands}));
    }
    let what = if args.short {
        format!("a short {}", info.title)
    } else {
        format!("{} as described in the game's document", info.title)
    };
    let names: Vec<&str> = own.iter().map(|one| one.name.as_str()).collect();
    let (who, add) = match &names[..] {
        [] => (String::new(), "Add your entrants with an editor. "),
        names => (format!("{} and ", names.join(", ")), ""),
    };
    let steps = output::next_steps(&next);
    output::print(&format!("{shown}: {what}, with {who}the house bots\n\n{add}Next steps:\n\n{steps}\n"))
}

/// The commands to go on with.
fn next_steps(competition: &CompetitionConfig, file: &str) -> Vec<(String, &'static str)> {
    let mut next = vec![
        (format!("agon run {file}"), "play it; stop it at any time and run it again to resume"),
        (format!("agon table {file}"), "print the current table"),
        (format!("agon report {file} DIR"), "write web pages"),
    ];
    if competition.phases.iter().any(|phase| phase.resubmit) {
        next[0].1 = "play the first phase; run it again for the next one, after bots were resubmitted";
        next.insert(1, (format!("agon run {file} --run-through"), "play all phases without a break"));
    }
    next
}

/// An entrant with a bot of the user.
struct OwnEntrant {
    /// Unique name.
    name: String,
    /// Bot spec, as the folder of the competition file sees it.
    bot: String,
    /// Role, in a game with roles.
    role: Option<&'static str>,
}

impl OwnEntrant {
    /// The entrant in the file. A name that the bot implies is left out, so that tables can show the name that the bot gives itself.
    fn table(&self) -> String {
        let (name, bot) = (&self.name, &self.bot);
        let is_plain = bot.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:#".contains(c));
        let endings = ["/", ":", "#"].map(|before| format!("{before}{name}"));
        let with_endings = [".py", ".zip"].map(|ending| format!("/{name}{ending}"));
        let implied =
            !name.contains('.') && endings.iter().chain(&with_endings).any(|end| bot.ends_with(end));
        let mut text = "[[entrant]]\n".to_owned();
        if !(is_plain && implied) {
            text += &format!("name = {}\n", toml_quote(name));
        }
        text += &format!("bot = {}\n", toml_quote(bot));
        if let Some(role) = self.role {
            text += &format!("role = {}\n", toml_quote(role));
        }
        text + "\n"
    }
}

/// The preset with these entrants before its own.
fn with_own_entrants(preset: &str, own: &[OwnEntrant]) -> String {
    let own: String = own.iter().map(OwnEntrant::table).collect();
    match preset.split_once("\n[[entrant]]\n") {
        Some((before, after)) => format!("{before}\n{own}[[entrant]]\n{after}"),
        None => format!("{preset}\n{own}"),
    }
}

/// The entrants for the bots of the command line.
fn own_entrants(args: &Init, info: &GameInfo, preset: &str) -> Result<Vec<OwnEntrant>, Diagnostic> {
    if args.bots.is_empty() {
        return Ok(Vec::new());
    }
    let beside = args.file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let beside = beside.unwrap_or(Path::new("."));
    let hint = "choose an existing folder with write permission";
    let folder = beside.canonicalize().map_err(|e| Diagnostic::named_path("find", beside, &e, hint))?;
    let house = CompetitionConfig::read(preset).map_or_else(|_| Vec::new(), |preset| preset.entrants);
    let mut taken: HashSet<String> = house.iter().map(|one| one.name.to_lowercase()).collect();
    let mut own = Vec::new();
    for bot in &args.bots {
        let (name, source) = name_and_source(bot, &folder)?;
        let roles = roles(info, &source);
        for role in &roles {
            let wanted = match role {
                Some(role) if roles.len() > 1 => format!("{name} {role}"),
                _ => name.clone(),
            };
            let name = unique_name(&wanted, &mut taken);
            own.push(OwnEntrant { name, bot: source.to_string(), role: *role });
        }
    }
    Ok(own)
}

/// Name of a bot, and where the folder of the competition file finds it.
fn name_and_source(bot: &str, folder: &Path) -> Result<(String, BotSource), Diagnostic> {
    Ok(match BotSource::parse(bot, Path::new(""))? {
        BotSource::House(name) => (name.clone(), BotSource::House(name)),
        BotSource::Manifest(path) => {
            let (name, path) = name_and_path(&path, folder)?;
            (name, BotSource::Manifest(path))
        }
        BotSource::Python { path, class } => {
            let (name, path) = name_and_path(&path, folder)?;
            (class.clone().unwrap_or(name), BotSource::Python { path, class })
        }
        BotSource::Zip { path, class } => {
            let (name, path) = name_and_path(&path, folder)?;
            (class.clone().unwrap_or(name), BotSource::Zip { path, class })
        }
        BotSource::PlayersYml { list, entry } => {
            let (name, list) = name_and_path(&list, folder)?;
            (entry.clone().unwrap_or(name), BotSource::PlayersYml { list, entry })
        }
        _ => {
            let hint = "name its folder (with an agon.toml, see `agon new`), a .py, a .zip or house:NAME";
            return Err(Diagnostic::wrong_use(format!("--bot: `{bot}` is not a folder or a file"), hint));
        }
    })
}

/// Name of a folder or file, and its path from a folder. The path begins with a dot: one word alone would be read as a house bot.
fn name_and_path(bot: &Path, folder: &Path) -> Result<(String, PathBuf), Diagnostic> {
    let hint = "check that the bot exists and can be read";
    let whole = bot.canonicalize().map_err(|e| Diagnostic::named_path("find", bot, &e, hint))?;
    // `.` and `..` have no name of their own.
    let named: &Path = if bot.file_name().is_some() { bot } else { &whole };
    let name = if whole.is_dir() { named.file_name() } else { named.file_stem() };
    let name = name.unwrap_or_default().to_string_lossy().into_owned();
    let shared = folder.components().zip(whole.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().count() - shared;
    let mut path = PathBuf::from(if up == 0 { "." } else { ".." });
    path.extend(std::iter::repeat_n("..", up.saturating_sub(1)));
    path.extend(whole.components().skip(shared));
    Ok((name, path))
}

/// The roles in which a bot is entered: that of its class, otherwise all. `None` if the game has one role, and for a house bot, whose
/// role is known.
fn roles(info: &GameInfo, source: &BotSource) -> Vec<Option<&'static str>> {
    if info.roles.len() < 2 || matches!(source, BotSource::House(_)) {
        return vec![None];
    }
    let class = match source {
        BotSource::Python { class: Some(class), .. } | BotSource::Zip { class: Some(class), .. } => {
            class.to_lowercase()
        }
        _ => String::new(),
    };
    let roles = info.roles.iter().map(|role| role.name);
    match roles.clone().find(|role| class.contains(*role)) {
        Some(role) => vec![Some(role)],
        None => roles.map(Some).collect(),
    }
}

/// The name, with a number if it is taken. Names differ by more than upper and lower case.
fn unique_name(wanted: &str, taken: &mut HashSet<String>) -> String {
    let numbered = |number: u32| if number == 1 { wanted.to_owned() } else { format!("{wanted} {number}") };
    let mut number = 1;
    while !taken.insert(numbered(number).to_lowercase()) {
        number += 1;
    }
    numbered(number)
}
