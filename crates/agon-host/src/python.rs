//! Bots for one of the Python APIs: a folder, a `.py` or `.py:Class`. The package `agon_bot` plays them. It is embedded in this
//! program and written to disk when it is first needed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use agon_core::assets::content_hash;
use agon_core::{BotLifetime, GameInfo};
use agon_files::AtomicFile;
use rust_embed::RustEmbed;

use crate::program::{Program, ProgramError, ZygoteOptions};
use crate::zygote::forked_bot::PausePolicy;
use crate::{python_files, python_packages};

#[derive(RustEmbed)]
#[folder = "../../python/agon_bot"]
#[include = "*.py"]
struct Package;

/// The interpreter of the option `--python`.
static CHOSEN: OnceLock<PathBuf> = OnceLock::new();

/// Chooses the interpreter for bots: a program, or the folder of a virtual environment. It wins over `AGON_PYTHON`. Call it before the first bot is
/// prepared; later calls change nothing.
pub fn choose(python: &Path) {
    let _ = CHOSEN.set(python.to_owned());
}

/// The interpreter that the user has chosen, by `--python` or `AGON_PYTHON`.
fn chosen() -> Option<PathBuf> {
    let chosen = CHOSEN.get().cloned().or_else(|| std::env::var_os("AGON_PYTHON").map(PathBuf::from))?;
    let in_folder = chosen.join("bin/python");
    Some(if in_folder.is_file() { in_folder } else { chosen })
}

/// The interpreter for a command that names just `python3` or `python`: the chosen one. `None` if none was chosen.
pub(crate) fn for_command(name: &str) -> Option<Result<PathBuf, ProgramError>> {
    (matches!(name, "python3" | "python") && chosen().is_some())
        .then(|| Ok(Interpreter::find()?.program.clone()))
}

/// Whether a Python interpreter for bots is available.
pub fn is_there() -> bool {
    Interpreter::find().is_ok()
}

/// The Python interpreter that runs bots.
pub fn interpreter() -> Result<&'static Path, ProgramError> {
    Ok(&Interpreter::find()?.program)
}

/// The folder that contains the package `agon_bot`. Writes it if it is not there yet.
pub fn package() -> io::Result<PathBuf> {
    lay_out()
}

/// A program that plays the bot at `path` (with the given class, if any) in a game. `path` must exist.
pub fn bot(game: &GameInfo, path: &Path, class: Option<&str>) -> Result<Program, ProgramError> {
    let wrong = |what: String, hint: &str| ProgramError { what, hint: hint.to_owned() };
    let path = path
        .canonicalize()
        .map_err(|e| wrong(format!("{}: {e}", path.display()), "name a folder or a .py file that exists"))?;
    let folder = if path.is_dir() { path.clone() } else { path.parent().unwrap_or(&path).to_owned() };
    let packages = python_packages::in_use();
    let package = lay_out().map_err(|e| {
        wrong(format!("cannot write the Python package: {e}"), "set XDG_CACHE_HOME to a writable folder")
    })?;
    let interpreter = Interpreter::find()?;
    let target =
        class.map_or_else(|| path.display().to_string(), |class| format!("{}:{class}", path.display()));
    let words = ["-m", "agon_bot", game.id, &target].map(str::to_owned);
    let mut program =
        Program::new([interpreter.program.display().to_string()].into_iter().chain(words), folder);
    program.environment = vec![
        ("PYTHONPATH".to_owned(), search_path(&package, packages)),
        ("PYTHONHASHSEED".to_owned(), "0".to_owned()),
        // Do not import from the working folder: a bot's `json.py` must not replace the library's.
        ("PYTHONSAFEPATH".to_owned(), "1".to_owned()),
        ("PYTHONDONTWRITEBYTECODE".to_owned(), "1".to_owned()),
    ];
    // NumPy's linear algebra library would start a thread for each core.
    let threads = ["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"];
    program.environment.extend(threads.map(|name| (name.to_owned(), "1".to_owned())));
    program.zygote = Some(zygote_options(game, target, &program.environment, interpreter));
    program.readable_dirs.clone_from(&interpreter.files);
    program.readable_dirs.push(package);
    program.readable_dirs.extend(packages.map(Path::to_owned));
    Ok(program)
}

/// Module search path of a bot besides the interpreter's own.
fn search_path(package: &Path, packages: Option<&Path>) -> String {
    let packages = packages.map(|packages| format!(":{}", packages.display()));
    format!("{}{}", package.display(), packages.unwrap_or_default())
}

/// A program that answers at once, in the same interpreter and sandbox as this Python bot: what its answers cost is the host's.
/// `None` if the game has no such bot, or the program is not a Python bot.
pub fn empty_bot(game: &GameInfo, like: &Program) -> Option<Program> {
    if !game.bots.measures_empty_answers || like.words.get(2).is_none_or(|module| module != "agon_bot") {
        return None;
    }
    let (_, search_path) = like.environment.iter().find(|(name, _)| name == "PYTHONPATH")?;
    // The package comes first; folders with packages of the competition may follow.
    let package = search_path.split(':').next()?;
    let folder = Path::new(package).join("agon_bot/games").join(game.id.replace('-', "_"));
    let target = folder.join("empty_bot.py").display().to_string();
    let mut program = like.clone();
    program.words.last_mut()?.clone_from(&target);
    program.folder = folder;
    program.environment.retain(|(name, _)| name != "AGON_ROOT");
    program.writable.clear();
    program.hidden.clear();
    program.bot_files.clear();
    program.private = None;
    if let Some(zygote) = &mut program.zygote {
        zygote.target = target;
    }
    Some(program)
}

/// The zygote options of a bot. Bots that live for one call are forked for each call, so their zygote imports as little as possible.
/// All other bots share a zygote that has imported `NumPy`.
fn zygote_options(
    game: &GameInfo,
    target: String,
    environment: &[(String, String)],
    interpreter: &Interpreter,
) -> ZygoteOptions {
    let forgets = game.lifetime == BotLifetime::Call;
    let asked_together = game.bots.asked_together;
    let arguments: &[&str] = if forgets {
        // Not `-m`: the import machinery for it would stay in memory.
        &[
            "-S",
            "-X",
            "no_debug_ranges",
            "-c",
            "from agon_bot.__main__ import main; main()",
            "--zygote",
            "plain",
        ]
    } else {
        &["-m", "agon_bot", "--zygote"]
    };
    let mut environment = environment.to_vec();
    environment.push(("LANG".to_owned(), "C.UTF-8".to_owned()));
    // The zygote does not use restartable sequences; without them the kernel does less at every context switch.
    environment.push(("GLIBC_TUNABLES".to_owned(), "glibc.pthread.rseq=0".to_owned()));
    environment.push(("AGON_PATH".to_owned(), interpreter.path.clone()));
    if forgets {
        // A switch for forks that cost less (docs/memory-image.md).
        if let Ok(image) = std::env::var("AGON_MEMORY_IMAGE") {
            environment.push(("AGON_MEMORY_IMAGE".to_owned(), image));
        }
        // Resolve functions of the C library at start, or every fork would resolve the same ones again.
        environment.push(("LD_BIND_NOW".to_owned(), "1".to_owned()));
    }
    ZygoteOptions {
        game: game.id.to_owned(),
        target,
        arguments: arguments.iter().map(|&word| word.to_owned()).collect(),
        environment,
        forks_calls: forgets,
        forks_games: game.lifetime == BotLifetime::Game,
        asked_together,
        // The fork for a call, and a bot that is asked together with others, can start neither threads nor processes.
        hold: if forgets || asked_together { PausePolicy::Never } else { PausePolicy::IfBusy },
    }
}

/// A Python interpreter for bots.
struct Interpreter {
    program: PathBuf,
    /// Its module search path.
    path: String,
    /// Its files and those of its packages, outside the system's folders.
    files: Vec<PathBuf>,
}

impl Interpreter {
    /// The chosen one, else the `python3` on the `PATH`. Queried once.
    fn find() -> Result<&'static Self, ProgramError> {
        static FOUND: OnceLock<Interpreter> = OnceLock::new();
        if let Some(found) = FOUND.get() {
            return Ok(found);
        }
        let found = Self::ask()?;
        Ok(FOUND.get_or_init(|| found))
    }

    /// Asks the interpreter for its real path. The one on the `PATH` may be a wrapper script or a link into a virtual environment.
    fn ask() -> Result<Self, ProgramError> {
        const ASK: &str = "import sys\nprint(sys.executable)\nprint(*sys.path, sep=':')\nfor p in {sys.prefix, sys.base_prefix}: print(p)";
        let name = chosen().unwrap_or_else(|| "python3".into());
        let missing = |why: String| ProgramError {
            what: format!("no Python to run the bot with: {}: {why}", name.display()),
            hint: "install python3, or name an interpreter with --python or AGON_PYTHON".to_owned(),
        };
        let output = Command::new(&name).args(["-c", ASK]).output().map_err(|e| missing(e.to_string()))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut lines = text.lines();
        let program = lines
            .next()
            .map(|line| without_detours(Path::new(line)))
            .filter(|p| p.is_absolute())
            .ok_or_else(|| missing("it does not say where it is".into()))?;
        let path = lines.next().unwrap_or_default().to_owned();
        let prefixes: Vec<PathBuf> = lines
            .map(|line| without_detours(Path::new(line)))
            .filter(|prefix| prefix.is_absolute())
            .collect();
        let mut files: Vec<PathBuf> =
            prefixes.iter().flat_map(|prefix| python_files::of_prefix(prefix)).collect();
        files.extend(python_files::package_folders(&path, &prefixes));
        Ok(Self { program, path, files })
    }
}

/// A path without `..`. Its last part stays unresolved: an interpreter finds its packages through its own link.
fn without_detours(path: &Path) -> PathBuf {
    match (path.parent().and_then(|parent| parent.canonicalize().ok()), path.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => path.to_owned(),
    }
}

/// The folder for what Agon keeps between runs.
pub(crate) fn cache_root() -> io::Result<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    let root = cache.or_else(home).unwrap_or_else(std::env::temp_dir).join("agon");
    fs::create_dir_all(&root)?;
    root.canonicalize()
}

/// The folder with the package, named by its content hash, because another version of Agon may run at the same time. Files there
/// are compared and rewritten if they differ.
fn lay_out() -> io::Result<PathBuf> {
    let mut all = Vec::new();
    for (name, file) in Package::iter().filter_map(|name| Package::get(&name).map(|file| (name, file))) {
        all.extend_from_slice(name.as_bytes());
        all.extend_from_slice(&file.metadata.sha256_hash());
    }
    let hash = content_hash(&all);
    let short = hash.rsplit(':').next().and_then(|hash| hash.get(..16)).unwrap_or("package");
    let folder = cache_root()?.join(format!("python-{short}"));
    for name in Package::iter() {
        let Some(file) = Package::get(&name) else { continue };
        let path = folder.join("agon_bot").join(name.as_ref());
        if fs::read(&path).is_ok_and(|there| there == file.data.as_ref()) {
            continue;
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        // Another Agon may write the same files.
        AtomicFile::options().write(&path, &file.data)?;
    }
    Ok(folder)
}
