//! Bots run with the author's own Python: virtual environments and installations outside the system's folders, by `--python`, `AGON_PYTHON`, an `agon.toml` or a command.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::place::{Place, reader};

/// A Connect Five bot that needs a package of the environment, and must not see another file in its folder.
const FIVER: &str = "import os\nimport sys\n\nimport only_here\n\n\nclass Fiver:\n    def __init__(self):\n        \
    assert not os.path.exists(os.path.join(sys.prefix, 'secret.txt')), 'sees secret.txt'\n        \
    assert only_here.ANSWER == 42\n\n    \
    def get_move(self, board, player, T, N):\n        return next(c for c in range(9) if board[0][c] == 0)\n";

/// A place with a virtual environment in `env`: it has a module `only_here`, and a file that does not belong to it.
struct Environment {
    place: Place,
}

impl Environment {
    fn new() -> Option<Self> {
        let environment = Self { place: Place::new(&[("five/Fiver.py", FIVER)]) };
        environment.make(&interpreter()?, "env");
        Some(environment)
    }

    /// Makes a virtual environment of an installation.
    fn make(&self, python: &Path, name: &str) {
        let venv = self.place.path(name);
        let mut command = Command::new(python);
        command.args(["-m", "venv", "--without-pip", "--symlinks"]).arg(&venv);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let lib = fs::read_dir(venv.join("lib")).unwrap().flatten().next().unwrap().path();
        fs::write(lib.join("site-packages/only_here.py"), "ANSWER = 42\n").unwrap();
        fs::write(venv.join("secret.txt"), "not for bots").unwrap();
    }

    fn run(&self, arguments: &[&str], python: Option<&str>) -> Output {
        let mut command = common::agon(&self.place.path(""), arguments);
        command.env_remove("AGON_PYTHON").env("TMPDIR", self.place.tmp());
        if let Some(python) = python {
            command.env("AGON_PYTHON", self.place.path(python));
        }
        command.output().unwrap()
    }

    /// Plays a game that must end without a fault.
    #[track_caller]
    fn plays(&self, arguments: &[&str], python: Option<&str>) {
        let output = self.run(&[arguments, &["--json"]].concat(), python);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {said}");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(!text.contains("\"says\""), "{arguments:?}: {text}");
    }
}

/// The installation behind the Python of the tests, such as pyenv's. Without it there is nothing to test.
fn interpreter() -> Option<PathBuf> {
    common::python()?.canonicalize().ok()
}

#[test]
fn virtual_environment_is_used_by_option_and_by_variable_and_hides_other_files() {
    let Some(environment) = Environment::new() else { return };
    let play = ["play", "connect-five", "five/Fiver.py", "house:random"];
    for python in ["env", "env/bin/python"] {
        environment.plays(&[&play[..], &["--python", python]].concat(), None);
        environment.plays(&play, Some(python));
    }
    // Without it, the package is missing.
    let output = environment.run(&play, None);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("only_here"), "{output:?}");
    let output = environment.run(&[&play[..], &["--python", "no-such-python"]].concat(), None);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("no-such-python") && said.contains("--python"), "{said}");
}

#[test]
fn command_with_the_path_of_an_environment_plays() {
    let Some(environment) = Environment::new() else { return };
    let bot = format!("import only_here\n{}", reader("len(words) > 1000"));
    environment.place.write("bot.py", &bot);
    environment.plays(&["play", "word-racer", "env/bin/python bot.py", "house:random"], None);
    let whole = format!("{} bot.py", environment.place.path("env/bin/python").display());
    environment.plays(&["play", "word-racer", &whole, "house:random"], None);
    // `python3` alone is the chosen interpreter.
    environment.plays(&["play", "word-racer", "python3 bot.py", "house:random", "--python", "env"], None);
    environment.plays(&["play", "word-racer", "python bot.py", "house:random"], Some("env"));
}

#[test]
fn manifest_with_an_environment_in_the_bots_folder_plays() {
    let Some(environment) = Environment::new() else { return };
    environment.make(&interpreter().unwrap(), "mine/.venv");
    let manifest = "command = \".venv/bin/python bot.py\"\nprotocol = \"word-racer\"\n";
    environment.place.write("mine/agon.toml", manifest);
    environment.place.write("mine/bot.py", &format!("import only_here\n{}", reader("len(words) > 1000")));
    environment.plays(&["play", "word-racer", "./mine", "house:random"], None);
    // One for several bots, beside their folders.
    environment.place.write("mine/agon.toml", &manifest.replace(".venv", "../env"));
    environment.plays(&["play", "word-racer", "./mine", "house:random"], None);
}

#[test]
fn environment_of_an_installation_with_two_names_plays() {
    let Some(environment) = Environment::new() else { return };
    let real = interpreter().unwrap();
    let prefix = real.parent().and_then(Path::parent).unwrap();
    // As uv does it: a link without the last part of the version.
    symlink(prefix, environment.place.path("cpython-3")).unwrap();
    let linked = environment.place.path("cpython-3/bin").join(real.file_name().unwrap());
    environment.make(&linked, "linked");
    environment.place.write("bot.py", &format!("import only_here\n{}", reader("len(words) > 1000")));
    environment.plays(&["play", "word-racer", "linked/bin/python bot.py", "house:random"], None);
    environment.plays(&["play", "connect-five", "five/Fiver.py", "house:random", "--python", "linked"], None);
}

#[test]
fn installation_outside_the_system_is_used_by_its_path() {
    let Some(environment) = Environment::new() else { return };
    let real = interpreter().unwrap().display().to_string();
    environment.place.write("bot.py", &reader("len(words) > 1000"));
    environment.plays(&["play", "word-racer", &format!("{real} bot.py"), "house:random"], None);
    environment.place.write("five/Fiver.py", &common::place::player("Fiver"));
    environment.plays(&["play", "connect-five", "five/Fiver.py", "house:random", "--python", &real], None);
}

#[test]
fn environment_plays_as_an_ordinary_user() {
    const SYSTEM: &str = "/usr/bin/python3";
    let setpriv = Path::new("/usr/bin/setpriv");
    if !rustix::process::getuid().is_root() || !setpriv.exists() || !Path::new(SYSTEM).exists() {
        let why = "needs root, setpriv and /usr/bin/python3";
        return agon_test_servers::cannot_run(agon_test_servers::Lacks::Machine, why);
    }
    let environment = Environment { place: Place::new(&[("five/Fiver.py", FIVER)]) };
    environment.make(Path::new(SYSTEM), "env");
    environment.place.write("bot.py", &format!("import only_here\n{}", reader("len(words) > 1000")));
    for folder in [environment.place.folder.path(), &environment.place.path(""), &environment.place.tmp()] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).unwrap();
    }
    for arguments in [
        ["play", "connect-five", "five/Fiver.py", "house:random", "--python", "env"],
        ["play", "word-racer", "env/bin/python bot.py", "house:random", "--seed", "7"],
        ["play", "word-racer", "python3 bot.py", "house:random", "--python", "env"],
    ] {
        let mut command = Command::new(setpriv);
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", env!("CARGO_BIN_EXE_agon")]);
        command.args(arguments).current_dir(environment.place.path("")).env_remove("AGON_PYTHON");
        command.env("TMPDIR", environment.place.tmp()).env("XDG_CACHE_HOME", environment.place.path("cache"));
        let text = common::good(&command.output().unwrap());
        assert!(!text.contains("fault: "), "{arguments:?}: {text}");
    }
}
