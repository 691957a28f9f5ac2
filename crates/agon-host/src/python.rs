//! Bots written for one of the Python APIs: a folder, a `.py` or `.py:Class`, played by the package `agon_bot`, which is
//! part of this program and is laid out on disk when it is first needed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use rust_embed::RustEmbed;

use crate::program::{Program, ProgramError};

#[derive(RustEmbed)]
#[folder = "../../python/agon_bot"]
#[include = "*.py"]
struct Package;

/// A program that plays the bot at `path` (with the class wanted, if any) in a game. `path` must exist.
pub fn bot(game: &str, path: &Path, class: Option<&str>) -> Result<Program, ProgramError> {
    let wrong = |what: String, hint: &str| ProgramError { what, hint: hint.to_owned() };
    let path = path
        .canonicalize()
        .map_err(|e| wrong(format!("{}: {e}", path.display()), "name a folder or a .py file that exists"))?;
    let folder = if path.is_dir() { path.clone() } else { path.parent().unwrap_or(&path).to_owned() };
    let package = lay_out().map_err(|e| {
        wrong(
            format!("cannot lay out the Python package: {e}"),
            "set XDG_CACHE_HOME to a folder you may write to",
        )
    })?;
    let interpreter = Interpreter::find()?;
    let target =
        class.map_or_else(|| path.display().to_string(), |class| format!("{}:{class}", path.display()));
    let mut program = Program::new(
        [interpreter.program.display().to_string(), "-m".into(), "agon_bot".into(), game.into(), target],
        folder,
    );
    program.environment = vec![
        ("PYTHONPATH".to_owned(), package.display().to_string()),
        ("PYTHONHASHSEED".to_owned(), "0".to_owned()),
        ("PYTHONDONTWRITEBYTECODE".to_owned(), "1".to_owned()),
    ];
    program.also = interpreter.folders;
    program.also.push(package);
    Ok(program)
}

/// A Python that bots are run with.
struct Interpreter {
    program: PathBuf,
    /// Where it and its packages live, outside the system's own folders.
    folders: Vec<PathBuf>,
}

impl Interpreter {
    /// `AGON_PYTHON`, else the `python3` on the `PATH`. It is asked where it really is: what is on the `PATH` may be a
    /// script that looks for it, or a link into a virtual environment.
    fn find() -> Result<Self, ProgramError> {
        const ASK: &str =
            "import sys\nprint(sys.executable)\nfor p in {sys.prefix, sys.base_prefix}: print(p)";
        let name = std::env::var_os("AGON_PYTHON").unwrap_or_else(|| "python3".into());
        let missing = |why: String| ProgramError {
            what: format!("no Python to run the bot with: {}: {why}", name.to_string_lossy()),
            hint: "install python3, or set AGON_PYTHON to the one to use".to_owned(),
        };
        let output = Command::new(&name).args(["-c", ASK]).output().map_err(|e| missing(e.to_string()))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut lines = text.lines().map(PathBuf::from);
        let program = lines
            .next()
            .filter(|p| p.is_absolute())
            .ok_or_else(|| missing("it does not say where it is".into()))?;
        let system = [Path::new("/usr"), Path::new("/usr/local")];
        Ok(Self {
            program,
            folders: lines
                .filter(|folder| folder.is_absolute() && !system.contains(&folder.as_path()))
                .collect(),
        })
    }
}

/// The folder that holds the package. What lies there already is compared, and written anew if it differs.
fn lay_out() -> io::Result<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    let root = cache.or_else(home).unwrap_or_else(std::env::temp_dir);
    let folder = std::path::absolute(root)?.join("agon").join(concat!("python-", env!("CARGO_PKG_VERSION")));
    for name in Package::iter() {
        let Some(file) = Package::get(&name) else { continue };
        let path = folder.join("agon_bot").join(name.as_ref());
        if fs::read(&path).is_ok_and(|there| there == file.data.as_ref()) {
            continue;
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        // Another Agon may be doing the same: each file appears whole.
        let draft = path.with_extension(format!("{}.part", std::process::id()));
        fs::write(&draft, &file.data)?;
        fs::rename(&draft, &path)?;
    }
    Ok(folder)
}
