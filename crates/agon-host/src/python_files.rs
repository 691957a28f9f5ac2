//! The files of a Python interpreter that a bot must see: those of its installation (pyenv, uv, conda, built by hand) and of its virtual environment,
//! and nothing else beside them. Everything is found by looking at files: an interpreter in a bot's folder never runs outside the sandbox.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::program::ProgramError;

/// What an installation or a virtual environment needs to run, relative to its folder.
const PARTS: [&str; 5] = ["bin", "lib", "lib64", "pyvenv.cfg", "share/zoneinfo"];

/// Installations whose files every bot can see.
const SYSTEM: [&str; 2] = ["/usr", "/usr/local"];

/// Marks a virtual environment.
const VENV_FILE: &str = "pyvenv.cfg";

/// Maximum size of that file.
const MAX_VENV_FILE_BYTES: u64 = 64 << 10;

/// The existing files of an installation or a virtual environment. None for the system's own, which every bot can see.
pub fn of_prefix(prefix: &Path) -> Vec<PathBuf> {
    if SYSTEM.iter().any(|system| Path::new(system) == prefix) {
        return Vec::new();
    }
    PARTS.iter().map(|part| prefix.join(part)).filter(|path| path.exists()).collect()
}

/// Folders of packages on the module search path that are outside these prefixes, such as those of `pip install --user`.
pub fn package_folders(search_path: &str, prefixes: &[PathBuf]) -> Vec<PathBuf> {
    let is_packages =
        |path: &Path| path.file_name().is_some_and(|name| name == "site-packages" || name == "dist-packages");
    let known = |path: &Path| {
        SYSTEM
            .iter()
            .map(Path::new)
            .chain(prefixes.iter().map(PathBuf::as_path))
            .any(|at| path.starts_with(at))
    };
    let paths = search_path.split(':').map(PathBuf::from);
    paths.filter(|path| path.is_absolute() && is_packages(path) && !known(path) && path.is_dir()).collect()
}

/// The files that a program of a bot in `folder` needs, if it is a Python interpreter. None for an interpreter in that folder: a link leads from a virtual
/// environment there to its installation, and only the bot's author on this machine can have made it, because archives and repositories
/// contain no such links.
pub(crate) fn of_program(program: &Path, folder: &Path) -> Vec<PathBuf> {
    let is_python = program.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python"));
    let Some(real) = program.canonicalize().ok().filter(|real| is_python && !real.starts_with(folder)) else {
        return Vec::new();
    };
    let Some(bin) = real.parent() else { return Vec::new() };
    let Some(installation) = bin.parent().filter(|prefix| is_installation(prefix)) else { return Vec::new() };
    let mut files = of_prefix(installation);
    if let Some(venv) = program.parent().and_then(Path::parent).filter(|venv| venv.join(VENV_FILE).is_file())
    {
        files.extend(of_prefix(venv));
        // The environment may name its installation by another path, such as one without the last part of the version.
        let home =
            home_of(venv).filter(|home| home != bin && home.canonicalize().is_ok_and(|home| home == bin));
        files.extend(home.as_deref().and_then(Path::parent).map(of_prefix).unwrap_or_default());
    }
    files
}

/// Whether a folder has Python's library.
fn is_installation(prefix: &Path) -> bool {
    ["lib", "lib64"].iter().any(|lib| {
        let entries = fs::read_dir(prefix.join(lib)).into_iter().flatten().flatten();
        let mut folders = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("python3"));
        folders.any(|entry| entry.path().join("os.py").is_file())
    })
}

/// The folder with the interpreter of the installation, as the virtual environment names it.
fn home_of(venv: &Path) -> Option<PathBuf> {
    let mut text = String::new();
    fs::File::open(venv.join(VENV_FILE)).ok()?.take(MAX_VENV_FILE_BYTES).read_to_string(&mut text).ok()?;
    let home = text.lines().filter_map(|line| line.split_once('=')).find(|(key, _)| key.trim() == "home")?;
    Some(PathBuf::from(home.1.trim())).filter(|home| home.is_absolute())
}

/// Rejects pyenv's scripts: they look for the interpreter when they run, which the sandbox does not allow.
pub(crate) fn check_no_shim(program: &Path) -> Result<(), ProgramError> {
    let name = program.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_shim = name.starts_with("python")
        && program.parent().is_some_and(|folder| folder.ends_with("shims"))
        && fs::File::open(program).is_ok_and(|mut file| {
            let mut start = [0; 2];
            file.read_exact(&mut start).is_ok() && &start == b"#!"
        });
    if !is_shim {
        return Ok(());
    }
    Err(ProgramError {
        what: format!("{} is a script that looks for Python, not an interpreter", program.display()),
        hint: format!("name the interpreter that `pyenv which {name}` prints"),
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// An installation with one file beside what belongs to it.
    fn installation(prefix: &Path) {
        for file in ["bin/python3.12", "lib/python3.12/os.py", "secret.txt"] {
            fs::create_dir_all(prefix.join(file).parent().unwrap()).unwrap();
            fs::write(prefix.join(file), "").unwrap();
        }
    }

    fn venv(at: &Path, home: &Path) {
        fs::create_dir_all(at.join("bin")).unwrap();
        fs::create_dir_all(at.join("lib")).unwrap();
        fs::write(at.join(VENV_FILE), format!("version = 3.12\nhome = {}\n", home.display())).unwrap();
        symlink(home.join("python3.12"), at.join("bin/python")).unwrap();
    }

    #[test]
    fn only_the_own_parts_of_an_installation_are_shown() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().canonicalize().unwrap();
        installation(&at.join("conda"));
        let shown = of_program(&at.join("conda/bin/python3.12"), Path::new("/bot"));
        assert_eq!(shown, [at.join("conda/bin"), at.join("conda/lib")]);
        // Not an installation, not Python, or not there.
        fs::write(at.join("python3"), "").unwrap();
        fs::write(at.join("conda/bin/node"), "").unwrap();
        for other in ["python3", "conda/bin/node", "conda/bin/python9"] {
            assert_eq!(of_program(&at.join(other), Path::new("/bot")), [""; 0].map(PathBuf::from), "{other}");
        }
    }

    #[test]
    fn virtual_environment_is_shown_with_its_installation_under_both_names() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().canonicalize().unwrap();
        installation(&at.join("cpython-3.12.9"));
        symlink(at.join("cpython-3.12.9"), at.join("cpython-3.12")).unwrap();
        venv(&at.join("bot/.venv"), &at.join("cpython-3.12/bin"));
        let shown = of_program(&at.join("bot/.venv/bin/python"), &at.join("bot"));
        let expected = [
            "cpython-3.12.9/bin",
            "cpython-3.12.9/lib",
            "bot/.venv/bin",
            "bot/.venv/lib",
            "bot/.venv/pyvenv.cfg",
            "cpython-3.12/bin",
            "cpython-3.12/lib",
        ];
        assert_eq!(shown, expected.map(|path| at.join(path)));
    }

    #[test]
    fn interpreter_file_in_the_bots_folder_shows_nothing_outside() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().canonicalize().unwrap();
        installation(&at.join("python"));
        fs::create_dir_all(at.join("bot/bin")).unwrap();
        fs::write(at.join("bot/pyvenv.cfg"), format!("home = {}\n", at.join("python/bin").display()))
            .unwrap();
        fs::write(at.join("bot/bin/python3"), "").unwrap();
        assert_eq!(of_program(&at.join("bot/bin/python3"), &at.join("bot")), [""; 0].map(PathBuf::from));
    }

    #[test]
    fn package_folders_outside_the_installation_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().canonicalize().unwrap();
        let own = at.join("user/lib/python3.12/site-packages");
        fs::create_dir_all(&own).unwrap();
        fs::create_dir_all(at.join("env/lib/site-packages")).unwrap();
        let path = [
            own.clone(),
            at.join("env/lib/site-packages"),
            at.clone(),
            "/usr/lib/python3/dist-packages".into(),
        ];
        let path = path.map(|path| path.display().to_string()).join(":");
        assert_eq!(package_folders(&format!(":{path}"), &[at.join("env")]), [own]);
    }

    #[test]
    fn shim_is_rejected_with_the_command_that_names_the_interpreter() {
        let folder = tempfile::tempdir().unwrap();
        let shims = folder.path().join("shims");
        fs::create_dir(&shims).unwrap();
        fs::write(shims.join("python3"), "#!/usr/bin/env bash\n").unwrap();
        assert!(check_no_shim(&shims.join("python3")).unwrap_err().hint.contains("`pyenv which python3`"));
        fs::write(folder.path().join("python3"), "#!/bin/sh\n").unwrap();
        assert_eq!(check_no_shim(&folder.path().join("python3")), Ok(()));
    }
}
