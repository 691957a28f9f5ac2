//! Python packages that an organiser allows, named by a `requirements.txt` or a lock file in that format. They are fetched once, before the first game, into a folder named
//! by the hash of the file and of the interpreter. Bots read that folder and cannot change it. At play time nothing is fetched.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use agon_core::assets::content_hash;

use crate::program::ProgramError;
use crate::python;

/// Maximum size of a list of packages.
const MAX_LIST_BYTES: u64 = 1 << 20;
/// Maximum number of lines of pip's output in an error.
const MAX_SHOWN_LINES: usize = 4;

/// The packages of the competition that this process runs.
static IN_USE: OnceLock<PathBuf> = OnceLock::new();

/// Gives these packages to all Python bots that are prepared from now on. Later calls change nothing: a process runs one competition.
pub fn use_packages(folder: PathBuf) {
    let _ = IN_USE.set(folder);
}

/// The packages in use.
pub(crate) fn in_use() -> Option<&'static Path> {
    IN_USE.get().map(PathBuf::as_path)
}

/// The folder with the packages of a list. Builds it if it does not exist.
pub fn build(list: &Path) -> Result<PathBuf, ProgramError> {
    let wrong = |what: String, hint: &str| ProgramError { what, hint: hint.to_owned() };
    let unreadable = |error: io::Error| {
        wrong(
            format!("packages: cannot read {}: {error}", list.display()),
            "name a requirements.txt that exists; in a competition file its path starts at the folder of the file",
        )
    };
    if fs::metadata(list).map_err(unreadable)?.len() > MAX_LIST_BYTES {
        let what = format!("packages: {} is larger than {} MiB", list.display(), MAX_LIST_BYTES >> 20);
        return Err(wrong(what, "list only the packages that bots may use"));
    }
    let text = fs::read(list).map_err(unreadable)?;
    let interpreter = python::interpreter()?;
    let unwritable = |error: io::Error| {
        wrong(
            format!("packages: cannot write to the cache: {error}"),
            "set XDG_CACHE_HOME to a writable folder",
        )
    };
    let root = python::cache_root().map_err(unwritable)?;
    let folder = root.join(format!("packages-{}", short_hash(&text, interpreter)?));
    if folder.is_dir() {
        return Ok(folder);
    }
    // Built under another name: the folder appears complete or not at all.
    let building = root.join(format!(".packages-{}", std::process::id()));
    remove(&building).map_err(unwritable)?;
    fs::create_dir_all(&building).map_err(unwritable)?;
    let built =
        install(interpreter, list, &building).and_then(|()| finish(&building, &folder).map_err(unwritable));
    let _ = remove(&building);
    built.map(|()| folder)
}

/// Hash of a list and of the interpreter that its packages are for.
fn short_hash(list: &[u8], interpreter: &Path) -> Result<String, ProgramError> {
    const ASK: &str = "import sys, sysconfig; print(sys.implementation.cache_tag, sysconfig.get_platform())";
    let said = Command::new(interpreter).args(["-c", ASK]).output();
    let said = said.ok().filter(|output| output.status.success()).ok_or_else(|| ProgramError {
        what: format!("packages: {} does not run", interpreter.display()),
        hint: "name another interpreter with --python or AGON_PYTHON".to_owned(),
    })?;
    let hash = content_hash(&[list, b"\0", &said.stdout].concat());
    Ok(hash.rsplit(':').next().unwrap_or_default().chars().take(16).collect())
}

/// Installs the packages of a list with pip, or with uv if the interpreter has no pip. Only wheels: nothing of a package runs while it is installed.
fn install(interpreter: &Path, list: &Path, to: &Path) -> Result<(), ProgramError> {
    let has_pip = Command::new(interpreter).args(["-m", "pip", "--version"]).output();
    let has_pip = has_pip.is_ok_and(|output| output.status.success());
    let mut command = if has_pip {
        let mut pip = Command::new(interpreter);
        pip.args(["-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--quiet"]);
        pip
    } else {
        let mut uv = Command::new("uv");
        uv.args(["pip", "install", "--quiet", "--python"]).arg(interpreter);
        uv
    };
    command.args(["--only-binary", ":all:", "--target"]).arg(to);
    command.arg("--requirement").arg(list.file_name().unwrap_or(list.as_os_str()));
    // Relative paths in the list start at its folder.
    command
        .current_dir(list.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")));
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(ProgramError {
            what: format!("packages: {} cannot be installed: {}", list.display(), last_lines(&output)),
            hint: "check the names and versions in it, and the network; packages must be available as wheels"
                .to_owned(),
        }),
        Err(_) => Err(ProgramError {
            what: format!("packages: {} has no pip, and there is no uv", interpreter.display()),
            hint: format!("run {} -m ensurepip, or install uv", interpreter.display()),
        }),
    }
}

/// The last lines of the errors of pip or uv.
fn last_lines(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let errors: Vec<&str> = lines.iter().copied().filter(|line| line.starts_with("ERROR")).collect();
    let shown = if errors.is_empty() { lines } else { errors };
    agon_core::sanitize::one_line(&shown[shown.len().saturating_sub(MAX_SHOWN_LINES)..].join("; "))
}

/// Makes a folder readable for all and writable for none, and gives it its name.
fn finish(building: &Path, folder: &Path) -> io::Result<()> {
    set_read_only(building)?;
    match fs::rename(building, folder) {
        // Another run was faster.
        Err(_) if folder.is_dir() => Ok(()),
        other => other,
    }
}

fn set_read_only(path: &Path) -> io::Result<()> {
    let about = path.symlink_metadata()?;
    if about.is_symlink() {
        return Ok(());
    }
    if about.is_dir() {
        for entry in fs::read_dir(path)? {
            set_read_only(&entry?.path())?;
        }
    }
    let mode = about.permissions().mode();
    let run = if about.is_dir() || mode & 0o100 != 0 { 0o111 } else { 0 };
    fs::set_permissions(path, fs::Permissions::from_mode(0o444 | run))
}

/// Removes a folder with read-only folders in it.
fn remove(folder: &Path) -> io::Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    set_writable(folder)?;
    fs::remove_dir_all(folder)
}

fn set_writable(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755))?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            set_writable(&entry.path())?;
        }
    }
    Ok(())
}
