//! A bot packed for another machine, and seated there: the same bot, by the same hash, wherever it was packed.
//!
//! What travels is what the bot can read at home, so that it plays there as it does here:
//!
//! - a folder (Python, `agon.toml`, an entry of a `players.yml`, a git checkout): all of it;
//! - a `.py`, or the files that a command names: all that is below the folder they lie in; where that is the competition's own folder, they and what
//!   they mention by name (there lie the ledger and other people's bots);
//! - a `.zip`: the archive.
//!
//! Left out are names that begin with a dot, `__pycache__`, `__MACOSX`, ledgers and records, links that lead outside, and what is hidden from
//! the bot here because it is somebody else's. What its hash covers is never left out: if the bot may not read it here, it is hidden from it there too.

mod collect;
mod tarball;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use agon_core::ErrorKind;
use agon_engine::{PlayerSpec, ProgramSpec};
use agon_host::BotRejection;
use agon_host::Program;
use serde_json::{Value, json};

use crate::error::Failure;
use crate::isolation;
use crate::manifest::Manifest;
use crate::resolve::{
    BotKind, BotRequest, ExtraFile, ResolveError, SandboxMode, kind_of, named_files, resolve_bot,
};
use crate::source::{content_hash, players_yml};
use collect::{Entry, FileSet};

pub use tarball::unpack;

/// A bot's files, as one block of bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BotPackage {
    /// The BOT, for [`seat`].
    pub spec: String,
    /// The hash of its content, as it stands in the ledger and in records.
    pub hash: String,
    /// The files: `.tar.zst`, the same bytes for the same files.
    pub files: Vec<u8>,
}

/// What stands beside the bot's files: what is known of it here only.
const ABOUT: &str = "about.json";
/// Where the files themselves are.
const FILES: &str = "bot";
/// A list with one bot, in place of the one it stood in.
const LIST: &str = "players.yml";

/// Packs a bot that was seated here, after its neighbours were hidden from it. `folder` is the one that its paths were read from.
pub fn pack(game: &str, seat: &ProgramSpec, folder: &Path) -> Result<BotPackage, Failure> {
    let sketch = PackagePlan::of(game, &seat.spec, folder)?;
    let mut gathered = FileSet::new(&sketch.root, &seat.program.hidden);
    gathered.wanted(&sketch.wanted, &sketch.covered).map_err(|refusal| refused(seat, &refusal))?;
    let hidden: Vec<String> = gathered.hidden.iter().map(|path| path.display().to_string()).collect();
    let about = json!({ "version": 1, "named": seat.spec, "hidden": hidden, "inside": sketch.inside, "hashed": sketch.hashed });
    let inside = Path::new(FILES).join(&sketch.inside);
    let mut entries = gathered.entries_below(&inside);
    entries.insert(PathBuf::from(ABOUT), Entry::Bytes(about.to_string().into_bytes()));
    if let Some(list) = sketch.list {
        entries.insert(Path::new(FILES).join(LIST), Entry::Bytes(list.into_bytes()));
    }
    let files = tarball::pack(&entries).map_err(|error| Failure {
        kind: ErrorKind::Internal,
        message: format!(
            "{}: cannot be packed for other machines: {error}\nhint: is it still there, and may you read it?",
            seat.spec
        ),
    })?;
    Ok(BotPackage { spec: sketch.spec, hash: seat.hash.clone(), files })
}

fn refused(seat: &ProgramSpec, refusal: &BotRejection) -> Failure {
    let failure = Failure::refused(&seat.spec, refusal);
    Failure {
        message: format!("{} cannot be played on other machines: {}", seat.name, failure.message),
        ..failure
    }
}

/// What is to be packed of a bot, and how it is named there.
struct PackagePlan {
    /// The folder that paths are seen from: a whole path.
    root: PathBuf,
    /// Where that folder lies in the parcel.
    inside: PathBuf,
    /// Folders and files to take, with what must not be taken.
    wanted: PackageScope,
    /// What the hash covers.
    covered: BTreeSet<PathBuf>,
    /// The BOT, there.
    spec: String,
    /// The words that the hash covers, where they are not those that are run there.
    hashed: Option<Vec<String>>,
    /// A list of players that is needed for it.
    list: Option<String>,
}

/// What is taken besides what the hash covers.
enum PackageScope {
    /// All that is below these folders, but not the competition's own.
    Below(Vec<PathBuf>, Option<PathBuf>),
    /// What lies at the top of the root and is mentioned in what is covered.
    Mentioned,
    /// Nothing.
    Nothing,
}

impl PackagePlan {
    fn of(game: &str, spec: &str, folder: &Path) -> Result<Self, Failure> {
        let failed = |trouble: ResolveError| trouble.of(spec);
        let home = folder.join(".").canonicalize()?;
        if let Some(manifest) = Manifest::of(game, spec, folder)? {
            let program =
                manifest.program(&mut |_| {}).map_err(|error| Failure::refused(spec, &error.into()))?;
            let covered = manifest.files(&program.words)?.into_iter().collect();
            portable(spec, &program.words, manifest.folder(), false)?;
            return Self::folder(spec, manifest.folder(), &home, covered, None);
        }
        match kind_of(spec, folder).map_err(failed)? {
            BotKind::Python(path, class) => {
                let path = folder.join(path).canonicalize()?;
                let covered = content_hash::files(&path)?;
                if path.is_dir() {
                    Self::folder(spec, &path, &home, covered, class)
                } else {
                    Ok(Self::file(&path, &home, covered, class))
                }
            }
            BotKind::Packed(path, class) => Ok(Self::archive(&folder.join(path).canonicalize()?, class)),
            BotKind::Listed(path, name) => Self::listed(spec, path, name, folder, &home),
            BotKind::Command(command, json_lines) => Self::command(spec, command, json_lines, home),
        }
    }

    /// A folder that is the bot.
    fn folder(
        spec: &str,
        root: &Path,
        home: &Path,
        covered: BTreeSet<PathBuf>,
        class: Option<&str>,
    ) -> Result<Self, Failure> {
        if home.starts_with(root) {
            let what =
                format!("{spec}: the competition itself lies in the bot's folder: it would travel with it");
            return Err(Failure::wrong_use(what, "give the bot a folder of its own"));
        }
        let inside = PathBuf::from(name_of(root));
        let spec = with_class(&inside, class);
        Ok(Self {
            wanted: PackageScope::Below(vec![root.to_owned()], None),
            root: root.to_owned(),
            inside,
            covered,
            spec,
            hashed: None,
            list: None,
        })
    }

    /// A file that is the bot, in a folder that others may share.
    fn file(path: &Path, home: &Path, covered: BTreeSet<PathBuf>, class: Option<&str>) -> Self {
        let root = path.parent().unwrap_or(path).to_owned();
        let inside = PathBuf::from(name_of(&root));
        let spec = with_class(&inside.join(name_of(path)), class);
        let wanted = if root == home {
            PackageScope::Mentioned
        } else {
            PackageScope::Below(vec![root.clone()], Some(home.to_owned()))
        };
        Self { root, inside, wanted, covered, spec, hashed: None, list: None }
    }

    fn archive(path: &Path, class: Option<&str>) -> Self {
        let root = path.parent().unwrap_or(path).to_owned();
        let spec = with_class(Path::new(&name_of(path)), class);
        let covered = BTreeSet::from([path.to_owned()]);
        Self {
            root,
            inside: PathBuf::new(),
            wanted: PackageScope::Nothing,
            covered,
            spec,
            hashed: None,
            list: None,
        }
    }

    fn listed(
        spec: &str,
        path: &Path,
        name: Option<&str>,
        folder: &Path,
        home: &Path,
    ) -> Result<Self, Failure> {
        let player =
            players_yml::choose_in(folder, path, name).map_err(|refusal| Failure::refused(spec, &refusal))?;
        let root = folder.join(&player.directory).canonicalize()?;
        let program = player.program(false).map_err(|refusal| Failure::refused(spec, &refusal))?;
        portable(spec, &program.words, &root, true)?;
        let mut sketch = Self::folder(spec, &root, home, content_hash::all(&root), None)?;
        // Apart from the list, whatever it is called.
        sketch.inside = Path::new("bots").join(&sketch.inside);
        let command = moved(&player.command, &root);
        let entry = json!({ "name": player.name, "directory": sketch.inside, "command": command });
        sketch.list = Some(json!({ "players": [entry] }).to_string());
        sketch.hashed = (command != player.command).then(|| vec![player.command.clone()]);
        LIST.clone_into(&mut sketch.spec);
        Ok(sketch)
    }

    fn command(spec: &str, command: &str, json_lines: bool, root: PathBuf) -> Result<Self, Failure> {
        let refuse = |error: agon_host::ProgramError| Failure::refused(spec, &error.into());
        let words = Program::from_command(command, &root).map_err(refuse)?.words;
        portable(spec, &words, &root, true)?;
        let covered: BTreeSet<PathBuf> =
            named_files(&words, &root).into_iter().filter(|path| path.starts_with(&root)).collect();
        let below: Vec<PathBuf> = words.iter().filter_map(|word| own_folder(word, &root)).collect();
        let moved = moved(command, &root);
        let hashed = (moved != command).then_some(words);
        let spec = if json_lines { format!("json:{moved}") } else { moved };
        let wanted = if below.is_empty() {
            PackageScope::Mentioned
        } else {
            PackageScope::Below(below, Some(root.clone()))
        };
        Ok(Self { root, inside: PathBuf::new(), wanted, covered, spec, hashed, list: None })
    }
}

/// The folder that a word of a command says the bot is in: itself, or where it is; not the competition's.
fn own_folder(word: &str, root: &Path) -> Option<PathBuf> {
    let path = root.join(word);
    let path = if path.is_dir() { path } else { path.parent().filter(|_| path.is_file())?.to_owned() };
    path.canonicalize().ok().filter(|path| path.starts_with(root) && path != root)
}

/// A command that names files by whole paths below a folder, from that folder.
fn moved(command: &str, root: &Path) -> String {
    command.replace(&format!("{}/", root.display()), "./")
}

/// Whether what a command names can be found on another machine: it is in the bot's folder, or the system's. `whole` says whether whole paths into the
/// folder can be written in another way.
fn portable(spec: &str, words: &[String], root: &Path, whole: bool) -> Result<(), Failure> {
    let systems = ["/usr", "/bin", "/lib", "/lib64", "/opt"].map(Path::new);
    for word in words {
        let Ok(path) = root.join(word).canonicalize() else { continue };
        let system = systems.iter().any(|system| path.starts_with(system));
        let up = Path::new(word).components().any(|part| part == std::path::Component::ParentDir);
        let inside = path.starts_with(root) && !up && (whole || !Path::new(word).is_absolute());
        if word.contains('/') && !system && !inside {
            let what =
                format!("{spec} cannot be played on other machines: it names {word}, a path of this one");
            return Err(Failure::wrong_use(
                what,
                "put it into the bot's folder and name it as seen from there",
            ));
        }
    }
    Ok(())
}

fn with_class(path: &Path, class: Option<&str>) -> String {
    // Never mistaken for a word such as `human`.
    let path = format!("./{}", path.display());
    class.map_or_else(|| path.clone(), |class| format!("{path}:{class}"))
}

/// The last part of a path. Some bots are called after their folder.
fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(OsStr::new("bot")).to_string_lossy().into_owned()
}

/// A bot whose parcel was unpacked here.
#[derive(Clone, Copy, Debug)]
pub struct UnpackedBot<'u> {
    /// The game it is to play.
    pub game: &'u str,
    /// Where the parcel was unpacked.
    pub folder: &'u Path,
    /// The BOT, as the parcel names it.
    pub spec: &'u str,
    /// The hash that it must have.
    pub hash: &'u str,
    /// Whether it runs behind the sandbox.
    pub sandbox: SandboxMode,
    /// What lies in its folder too.
    pub beside: Option<ExtraFile<'u>>,
}

/// Seats such a bot. It is named as it was where it was packed, and has the same hash: or it is refused.
pub fn load_unpacked(unpacked: &UnpackedBot<'_>) -> Result<ProgramSpec, Failure> {
    let UnpackedBot { game, folder, spec, hash, sandbox, beside } = *unpacked;
    let about: Value = serde_json::from_slice(&std::fs::read(folder.join(ABOUT))?).unwrap_or_default();
    let named = about["named"].as_str().unwrap_or(spec);
    let files = folder.join(FILES);
    let order = BotRequest { game, bot: spec, sandbox, keep: false, beside, folder: &files };
    let seated = resolve_bot(&order, &mut |_| {}).map_err(|trouble| trouble.of(named))?;
    let PlayerSpec::Program(mut seat) = seated else {
        return Err(Failure::wrong_use(
            format!("{named}: `{spec}` is no program"),
            "a parcel holds a program",
        ));
    };
    let root = files.join(about["inside"].as_str().unwrap_or_default()).canonicalize()?;
    if let Some(words) = texts(&about["hashed"]) {
        seat.hash = hash_by(spec, &words, &root)?;
    }
    if seat.hash != hash {
        let what = format!("{named}: what arrived here has the hash {}, not {hash}", seat.hash);
        let hint = "does it name a program of the system, by its path, that is another one on this machine?";
        return Err(Failure { kind: ErrorKind::Internal, message: format!("{what}\nhint: {hint}") });
    }
    named.clone_into(&mut seat.spec);
    let hidden = texts(&about["hidden"]).unwrap_or_default().iter().map(|path| root.join(path)).collect();
    isolation::hide_paths(&mut seat, hidden)?;
    Ok(seat)
}

/// The hash of a bot whose command was written in another way where it was packed.
fn hash_by(spec: &str, words: &[String], root: &Path) -> Result<String, Failure> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if spec == LIST {
        return Ok(content_hash::hash(root, &words)?);
    }
    let command = spec.strip_prefix("json:").unwrap_or(spec);
    let program =
        Program::from_command(command, root).map_err(|error| Failure::refused(spec, &error.into()))?;
    // As they were named: a `./` before a name is no part of it.
    let files =
        named_files(&program.words, root).into_iter().filter_map(|path| path.canonicalize().ok()).collect();
    Ok(content_hash::hash_files(root, &files, &words)?)
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array().map(|all| all.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect())
}
