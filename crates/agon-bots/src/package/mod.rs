//! Packs a bot for another machine and loads it there. The bot and its hash stay the same.
//!
//! A package contains everything that the bot can read on this machine, so that it plays the same way:
//!
//! - a folder (Python, `agon.toml`, an entry of a `players.yml`, a git checkout): the whole folder;
//! - a `.py`, or the files that a command names: everything below their folder. If that is the competition's folder, which also contains
//!   the ledger and other bots, only these files and the files that they mention by name;
//! - a `.zip`: the archive.
//!
//! Not included are names that begin with a dot, `__pycache__`, `__MACOSX`, ledgers and records, links that lead outside, and files that
//! are hidden from the bot because they belong to another bot. Files that the hash covers are always included; if the bot cannot read
//! such a file here, it is hidden from it on the other machine too.

mod collect;
mod tarball;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use agon_engine::{PlayerSpec, ProgramSpec};
use agon_host::BotRejection;
use agon_host::Program;
use serde_json::{Value, json};

use crate::bot_source::BotSource;
use crate::error::Diagnostic;
use crate::isolation;
use crate::manifest::Manifest;
use crate::prepare::{PrepareContext, PreparedBot, prepare};
use crate::resolve::named_files;
use crate::source::{content_hash, players_yml};
use collect::{FileSet, PackageEntry};

pub use tarball::unpack;

/// A bot's files as one block of bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BotPackage {
    /// Bot spec for [`BotSource::Package`].
    pub spec: String,
    /// Content hash, as in the ledger and in records.
    pub hash: String,
    /// Files as `.tar.zst`; the same files give the same bytes.
    pub files: Vec<u8>,
}

/// File with facts about the bot that only this machine knows.
const METADATA_FILE: &str = "about.json";
/// Folder of the bot's files in the package.
const BOT_FOLDER: &str = "bot";
/// Generated list with only this bot, which replaces the original list.
const LIST_FILE: &str = "players.yml";

/// Packs a loaded bot, after the other bots' files were hidden from it. `folder` is the base folder of its paths.
pub fn pack(game: &str, seat: &ProgramSpec, folder: &Path) -> Result<BotPackage, Diagnostic> {
    let plan = PackagePlan::of(game, &seat.spec, folder)?;
    let mut files_to_pack = FileSet::new(&plan.root, &seat.program.hidden);
    files_to_pack.add_bot_files(&plan.wanted, &plan.covered).map_err(|refusal| refused(seat, &refusal))?;
    let hidden: Vec<String> = files_to_pack.hidden.iter().map(|path| path.display().to_string()).collect();
    let about = json!({ "version": 1, "named": seat.spec, "hidden": hidden, "inside": plan.inside, "hashed": plan.hashed });
    let inside = Path::new(BOT_FOLDER).join(&plan.inside);
    let mut entries = files_to_pack.entries_below(&inside);
    entries.insert(PathBuf::from(METADATA_FILE), PackageEntry::Bytes(about.to_string().into_bytes()));
    if let Some(list) = plan.list {
        entries.insert(Path::new(BOT_FOLDER).join(LIST_FILE), PackageEntry::Bytes(list.into_bytes()));
    }
    let files = tarball::pack(&entries).map_err(|error| {
        Diagnostic::internal(format!("cannot be packed for other machines: {error}"))
            .about(&seat.spec)
            .hint("check that its files exist and are readable")
    })?;
    Ok(BotPackage { spec: plan.spec, hash: seat.hash.clone(), files })
}

fn refused(seat: &ProgramSpec, refusal: &BotRejection) -> Diagnostic {
    refusal.of_bot(&seat.spec).about(format!("{} cannot be played on other machines", seat.name))
}

/// What to pack of a bot, and its spec on the other machine.
struct PackagePlan {
    /// Absolute path of the root folder.
    root: PathBuf,
    /// Path of the root folder in the package.
    inside: PathBuf,
    /// Folders and files to include.
    wanted: PackageScope,
    /// Files that the hash covers.
    covered: BTreeSet<PathBuf>,
    /// Bot spec on the other machine.
    spec: String,
    /// Words of the command that the hash covers, if the command differs on the other machine.
    hashed: Option<Vec<String>>,
    /// Content of the generated `players.yml`, if needed.
    list: Option<String>,
}

/// Files to include besides those that the hash covers.
enum PackageScope {
    /// Everything below these folders, except the competition's folder.
    Below(Vec<PathBuf>, Option<PathBuf>),
    /// Entries at the top of the root that covered files mention.
    Mentioned,
    /// No other files.
    Nothing,
}

impl PackagePlan {
    fn of(game: &str, spec: &str, folder: &Path) -> Result<Self, Diagnostic> {
        let home = folder.join(".").canonicalize()?;
        match BotSource::parse(spec, folder)? {
            BotSource::Manifest(_) => {
                let manifest = Manifest::read(game, spec, folder)?;
                let program =
                    manifest.program(&mut |_| {}).map_err(|error| BotRejection::from(error).of_bot(spec))?;
                let covered = manifest.files(&program.words)?.into_iter().collect();
                check_portable(spec, &program.words, manifest.folder(), false)?;
                Self::folder(spec, manifest.folder(), &home, covered, None)
            }
            BotSource::Python { path, class } => {
                let path = folder.join(path).canonicalize()?;
                let covered = content_hash::files(&path)?;
                if path.is_dir() {
                    Self::folder(spec, &path, &home, covered, class.as_deref())
                } else {
                    Ok(Self::file(&path, &home, covered, class.as_deref()))
                }
            }
            BotSource::Zip { path, class } => {
                Ok(Self::archive(&folder.join(path).canonicalize()?, class.as_deref()))
            }
            BotSource::PlayersYml { list, entry } => {
                Self::listed(spec, &list, entry.as_deref(), folder, &home)
            }
            BotSource::Command { command, json_lines } => Self::command(spec, &command, json_lines, home),
            BotSource::House(_) | BotSource::Human | BotSource::Git { .. } | BotSource::Package { .. } => {
                Err(not_a_program(spec, spec))
            }
        }
    }

    /// A bot that is a folder.
    fn folder(
        spec: &str,
        root: &Path,
        home: &Path,
        covered: BTreeSet<PathBuf>,
        class: Option<&str>,
    ) -> Result<Self, Diagnostic> {
        if home.starts_with(root) {
            let what =
                format!("{spec}: the bot's folder contains the competition, which would be packed too");
            return Err(Diagnostic::wrong_use(what, "put the bot into a separate folder"));
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

    /// A bot that is a file, in a folder that other bots may share.
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
    ) -> Result<Self, Diagnostic> {
        let player = players_yml::choose_in(folder, path, name).map_err(|refusal| refusal.of_bot(spec))?;
        if player.house_bot().is_some() {
            return Err(not_a_program(spec, spec));
        }
        let root = folder.join(&player.directory).canonicalize()?;
        let program = player.program(false).map_err(|refusal| refusal.of_bot(spec))?;
        check_portable(spec, &program.words, &root, true)?;
        let mut plan = Self::folder(spec, &root, home, content_hash::all(&root), None)?;
        // A separate folder, so that no file collides with the generated list.
        plan.inside = Path::new("bots").join(&plan.inside);
        let command = with_relative_paths(&player.command, &root);
        let entry = json!({ "name": player.name, "directory": plan.inside, "command": command });
        plan.list = Some(json!({ "players": [entry] }).to_string());
        plan.hashed = (command != player.command).then(|| vec![player.command.clone()]);
        LIST_FILE.clone_into(&mut plan.spec);
        Ok(plan)
    }

    fn command(spec: &str, command: &str, json_lines: bool, root: PathBuf) -> Result<Self, Diagnostic> {
        let refuse = |error: agon_host::ProgramError| BotRejection::from(error).of_bot(spec);
        let words = Program::from_command(command, &root).map_err(refuse)?.words;
        check_portable(spec, &words, &root, true)?;
        let covered: BTreeSet<PathBuf> =
            named_files(&words, &root).into_iter().filter(|path| path.starts_with(&root)).collect();
        let below: Vec<PathBuf> = words.iter().filter_map(|word| own_folder(word, &root)).collect();
        let moved = with_relative_paths(command, &root);
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

/// Folder of the bot according to a word of its command: the word itself or its parent, but not the competition's folder.
fn own_folder(word: &str, root: &Path) -> Option<PathBuf> {
    let path = root.join(word);
    let path = if path.is_dir() { path } else { path.parent().filter(|_| path.is_file())?.to_owned() };
    path.canonicalize().ok().filter(|path| path.starts_with(root) && path != root)
}

/// Replaces absolute paths below a folder in a command by paths relative to it.
fn with_relative_paths(command: &str, root: &Path) -> String {
    command.replace(&format!("{}/", root.display()), "./")
}

/// Checks that the files that a command names exist on another machine: they are in the bot's folder or part of the system. `whole` says
/// whether absolute paths into the folder can be replaced.
fn check_portable(spec: &str, words: &[String], root: &Path, whole: bool) -> Result<(), Diagnostic> {
    let systems = ["/usr", "/bin", "/lib", "/lib64", "/opt"].map(Path::new);
    for word in words {
        let Ok(path) = root.join(word).canonicalize() else { continue };
        let system = systems.iter().any(|system| path.starts_with(system));
        let up = Path::new(word).components().any(|part| part == std::path::Component::ParentDir);
        let inside = path.starts_with(root) && !up && (whole || !Path::new(word).is_absolute());
        if word.contains('/') && !system && !inside {
            let what =
                format!("{spec} cannot be played on other machines: it names {word}, a path of this machine");
            return Err(Diagnostic::wrong_use(what, "move it into the bot's folder and use a relative path"));
        }
    }
    Ok(())
}

fn with_class(path: &Path, class: Option<&str>) -> String {
    // With `./` it cannot be mistaken for a word such as `human`.
    let path = format!("./{}", path.display());
    class.map_or_else(|| path.clone(), |class| format!("{path}:{class}"))
}

/// Last part of a path. Some bots are named after their folder.
fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(OsStr::new("bot")).to_string_lossy().into_owned()
}

/// Prepares the bot of an unpacked package. It keeps its name, and fails if its hash differs.
pub(crate) fn prepare_unpacked(
    folder: &Path,
    spec: &str,
    hash: &str,
    context: &PrepareContext<'_>,
) -> Result<ProgramSpec, Diagnostic> {
    let about: Value =
        serde_json::from_slice(&std::fs::read(folder.join(METADATA_FILE))?).unwrap_or_default();
    let named = about["named"].as_str().unwrap_or(spec);
    let files = folder.join(BOT_FOLDER);
    let context = PrepareContext { folder: &files, ..*context };
    let prepared = BotSource::parse(spec, &files).and_then(|source| prepare(&source, &context, &mut |_| {}));
    let PreparedBot { source, player, .. } = prepared.map_err(|error| error.named(named))?;
    let PlayerSpec::Program(mut seat) = player else {
        return Err(not_a_program(named, spec));
    };
    let root = files.join(about["inside"].as_str().unwrap_or_default()).canonicalize()?;
    if let Some(words) = texts(&about["hashed"]) {
        seat.hash = hash_with_words(&source, &words, &root)?;
    }
    if seat.hash != hash {
        let what = format!("the received files have the hash {}, not {hash}", seat.hash);
        let hint = "check whether the bot names a system program by its path that differs on this machine";
        return Err(Diagnostic::internal(what).about(named).hint(hint));
    }
    named.clone_into(&mut seat.spec);
    let hidden = texts(&about["hidden"]).unwrap_or_default().iter().map(|path| root.join(path)).collect();
    isolation::hide_paths(&mut seat, hidden)?;
    Ok(seat)
}

fn not_a_program(named: &str, spec: &str) -> Diagnostic {
    Diagnostic::wrong_use(
        format!("{named}: `{spec}` is not a program"),
        "pack the bot again; a package contains a program",
    )
}

/// Hash of a bot whose command was written differently on the machine that packed it.
fn hash_with_words(source: &BotSource, words: &[String], root: &Path) -> Result<String, Diagnostic> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let BotSource::Command { command, .. } = source else {
        return Ok(content_hash::hash(root, &words)?);
    };
    let program = Program::from_command(command, root)
        .map_err(|error| BotRejection::from(error).of_bot(&source.to_string()))?;
    // File names without a leading `./`, which is not part of the name.
    let files =
        named_files(&program.words, root).into_iter().filter_map(|path| path.canonicalize().ok()).collect();
    Ok(content_hash::hash_files(root, &files, &words)?)
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array().map(|all| all.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect())
}
