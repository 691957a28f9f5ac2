//! Hides the files of other bots: bots of one game that share a folder cannot read each other's files.

use std::fs;
use std::path::{Path, PathBuf};

use agon_engine::{PlayerSpec, ProgramSpec};
use agon_host::Program;
use agon_host::sandbox::can_hide;

use crate::error::Diagnostic;

/// Hides the files of the other seats' bots from each program. Files that a seat names itself stay visible to it, even if another seat
/// names them too.
pub fn hide_other_bots(seats: Vec<&mut PlayerSpec>) -> Result<(), Diagnostic> {
    let named: Vec<Vec<PathBuf>> =
        seats.iter().map(|seat| program(seat).map_or_else(Vec::new, named_paths)).collect();
    for (index, seat) in seats.into_iter().enumerate() {
        let PlayerSpec::Program(seat) = seat else { continue };
        let mut own = named[index].clone();
        // The interpreter or program itself, if it is in the same folder.
        own.extend(seat.program.locate().ok().and_then(|path| path.canonicalize().ok()));
        let is_own = |path: &PathBuf| own.iter().any(|own| own.starts_with(path) || path.starts_with(own));
        let others =
            named.iter().enumerate().filter(|(other, _)| *other != index).flat_map(|(_, paths)| paths);
        hide_paths(seat, others.filter(|path| !is_own(path)).cloned().collect())?;
    }
    Ok(())
}

/// Hides these files and folders from a program, and their compiled or copied forms.
pub fn hide_paths(seat: &mut ProgramSpec, mut hidden: Vec<PathBuf>) -> Result<(), Diagnostic> {
    hidden.append(&mut seat.program.hidden);
    hidden.sort();
    hidden.dedup();
    // The program may run from a copy of its folder.
    let copies: Vec<PathBuf> = hidden.iter().flat_map(|path| copies(path, &seat.program)).collect();
    hidden.extend(copies);
    let compiled: Vec<PathBuf> = hidden.iter().flat_map(|path| compiled_files(path)).collect();
    hidden.extend(compiled);
    seat.program.hidden = hidden;
    check_can_hide(seat)
}

/// Paths of a file in the private copy of the folder that a program runs from.
fn copies(path: &Path, program: &Program) -> Vec<PathBuf> {
    if program.private.is_none() {
        return Vec::new();
    }
    let inside =
        program.readable_dirs.iter().filter_map(|folder| path.strip_prefix(folder.canonicalize().ok()?).ok());
    inside.map(|inside| program.folder.join(inside)).filter(|copy| copy.symlink_metadata().is_ok()).collect()
}

/// Checks before any game that the files can be hidden. A failure is not the bot's fault.
fn check_can_hide(seat: &ProgramSpec) -> Result<(), Diagnostic> {
    let ProgramSpec { program, spec, .. } = seat;
    if !program.sandboxed {
        return Ok(());
    }
    let folder = program.folder.canonicalize()?;
    can_hide(&program.hidden, program.readable_dirs.iter().chain([&folder])).map_err(|error| {
        Diagnostic::wrong_use(format!("{spec}: {error}"), "put each bot into a separate folder")
    })
}

const fn program(seat: &PlayerSpec) -> Option<&Program> {
    match seat {
        PlayerSpec::Program(seat) => Some(&seat.program),
        PlayerSpec::House(_) | PlayerSpec::Human => None,
    }
}

/// Files and folders that a bot spec names: the path of a Python bot, or the paths in a command.
fn named_paths(program: &Program) -> Vec<PathBuf> {
    if !program.bot_files.is_empty() {
        return program.bot_files.clone();
    }
    if let Some(zygote) = &program.zygote {
        let whole = Path::new(&zygote.target).canonicalize();
        let path = || Path::new(zygote.target.rsplit_once(':').map_or("", |(path, _)| path)).canonicalize();
        return whole.or_else(|_| path()).into_iter().collect();
    }
    let Ok(folder) = program.folder.canonicalize() else { return Vec::new() };
    let paths = program.words.iter().filter_map(|word| folder.join(word).canonicalize().ok());
    paths.filter(|path| path.starts_with(&folder)).collect()
}

/// Compiled forms of a Python module, which reveal as much as the module.
fn compiled_files(path: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(stem)) = (path.parent(), path.file_stem()) else { return Vec::new() };
    if path.extension().is_none_or(|ending| ending != "py") {
        return Vec::new();
    }
    let start = format!("{}.", stem.to_string_lossy());
    let kept = fs::read_dir(folder.join("__pycache__")).into_iter().flatten().flatten();
    kept.filter(|entry| entry.file_name().to_string_lossy().starts_with(&start))
        .map(|entry| entry.path())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(program: Program) -> PlayerSpec {
        let text = String::new;
        PlayerSpec::Program(ProgramSpec {
            name: text(),
            spec: text(),
            hash: text(),
            program,
            json_lines: true,
            isolates_calls: false,
            logs_dir: None,
            scratch_dir: None,
        })
    }

    /// Files hidden from each of these commands in a folder with these files.
    fn hidden(files: &[&str], commands: &[&[&str]]) -> Vec<Vec<String>> {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        for file in files {
            fs::create_dir_all(home.join(file).parent().unwrap()).unwrap();
            fs::write(home.join(file), "").unwrap();
        }
        let mut seats: Vec<PlayerSpec> =
            commands.iter().map(|words| seat(Program::new(words.iter().copied(), &home))).collect();
        seats.insert(0, PlayerSpec::Human);
        hide_other_bots(seats.iter_mut().collect()).unwrap();
        let names = |program: &Program| {
            let hidden = program.hidden.iter();
            hidden.map(|path| path.strip_prefix(&home).unwrap().display().to_string()).collect()
        };
        seats.iter().filter_map(program).map(names).collect()
    }

    #[test]
    fn command_can_read_only_the_files_that_it_names() {
        let files = [
            "a.py",
            "b.py",
            "run.sh",
            "bots/c/main.py",
            "__pycache__/b.cpython-312.pyc",
            "__pycache__/bb.pyc",
        ];
        let commands: [&[&str]; 4] = [
            &["python3", "a.py"],
            &["./run.sh", "b.py", "--no-such-file"],
            &["./run.sh", "bots/c"],
            &["python3", "bots/c/main.py", "/bin/sh"],
        ];
        assert_eq!(
            hidden(&files, &commands),
            [
                vec!["b.py", "bots/c", "bots/c/main.py", "run.sh", "__pycache__/b.cpython-312.pyc"],
                vec!["a.py", "bots/c", "bots/c/main.py"],
                vec!["a.py", "b.py", "__pycache__/b.cpython-312.pyc"],
                vec!["a.py", "b.py", "run.sh", "__pycache__/b.cpython-312.pyc"],
            ]
        );
        // The command names the folder itself, so everything in it belongs to the bot.
        assert_eq!(
            hidden(&["A.class", "b.py"], &[&["java", "-cp", ".", "A"], &["python3", "b.py"]]),
            [vec![""; 0], vec![]]
        );
    }
}
