//! `agon new GAME DIR`: writes a starter bot that plays legal moves.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use agon_bots::Diagnostic;
use agon_bots::starter::{self, Starter, TemplateNames};
use agon_core::text_format::shell_quote_path;
use agon_files::{IfExists, TemporaryFolder};
use agon_host::Program;
use serde_json::json;

use crate::args::New;
use crate::output;

/// Writes the bot, builds it if possible, and prints the next steps.
pub fn run(args: &New) -> Result<(), Diagnostic> {
    let info = agon_engine::any_game(&args.game)?.info();
    let language = starter::language(&args.lang)?;
    let folder = absolute_path(&args.folder)?;
    let names = TemplateNames::of(&folder.file_name().unwrap_or_default().to_string_lossy());
    let starter = Starter::new(info, language, &names)?;
    write(&folder, &starter)?;
    let built = match language.build {
        Some(command) if !args.no_build => build(&folder, command),
        _ => BuildResult::Nothing,
    };
    let (folder, built_now) = (args.folder.display().to_string(), matches!(built, BuildResult::Done));
    if args.json {
        let files: Vec<&str> = starter.files.iter().map(|file| file.name.as_str()).collect();
        let content = json!({
            "game": info.id, "language": language.id, "folder": folder, "name": names.shown, "files": files,
            "built": built_now, "next": starter.commands,
        });
        output::print_json("new", content)?;
    } else {
        let what = format!("{}, a bot for {}, in {}", names.shown, info.title, language.title);
        let build = language.build.filter(|_| built_now);
        output::print(&message(&args.folder, &what, &starter, build))?;
    }
    if let BuildResult::Failed(why) = built {
        output::note(&format!("note: the bot is not built yet: {why}"));
    }
    Ok(())
}

/// The result and the next steps, as lines to paste into a shell. `built` is the command that has built the bot.
fn message(folder: &Path, what: &str, starter: &Starter, built: Option<&str>) -> String {
    let ready = if built.is_some() { ", built and ready to play" } else { "" };
    let mut text = format!("{what}{ready}\n\n");
    let width = starter.files.iter().map(|file| file.name.len()).max().unwrap_or_default();
    for file in &starter.files {
        text += &format!("  {:width$}   {}\n", file.name, file.description);
    }
    if let Some(build) = built {
        text += &format!("\nBuild it again after each change: {build}\n");
    }
    text += "\nNext:\n\n";
    if folder.canonicalize().ok() != std::env::current_dir().ok() {
        text += &format!("  cd {}\n", shell_quote_path(&folder.display().to_string()));
    }
    for command in starter.commands.iter().filter(|command| built != Some(command.as_str())) {
        text += &format!("  {command}\n");
    }
    text
}

/// Absolute path of the folder, if a bot can be written there.
fn absolute_path(folder: &Path) -> Result<PathBuf, Diagnostic> {
    let taken = |what: &str| {
        let what = format!("{}: {what}; nothing was written", folder.display());
        Err(Diagnostic::wrong_use(what, "name a folder that does not exist yet"))
    };
    match fs::read_dir(folder).map(Iterator::count) {
        // `.` and `a/..` have no file name. An existing folder can be resolved to its real name.
        Ok(0) => folder.canonicalize().map_err(|e| Diagnostic::named_path("find", folder, &e, HINT)),
        Ok(_) => taken("the folder is not empty"),
        Err(error) if error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(folder).is_err() => {
            match std::path::absolute(folder) {
                Ok(path) if path.file_name().is_some() => Ok(path),
                _ => taken("a folder needs a name"),
            }
        }
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err(Diagnostic::named_path("read", folder, &error, HINT))
        }
        Err(_) => taken("it exists and is not a folder"),
    }
}

const HINT: &str = "choose a folder with write permission";

/// Writes the files to a temporary folder, and renames the folder when it is complete.
fn write(folder: &Path, starter: &Starter) -> Result<(), Diagnostic> {
    let failed = |e: io::Error| Diagnostic::named_path("write", folder, &e, HINT);
    let parent = folder.parent().unwrap_or(folder);
    fs::create_dir_all(parent).map_err(failed)?;
    let mut unfinished = TemporaryFolder::beside(folder).map_err(failed)?;
    for file in &starter.files {
        fs::write(unfinished.path().join(&file.name), &file.content).map_err(failed)?;
    }
    if !folder.exists() {
        return unfinished.move_to(folder, IfExists::Keep).map_err(failed);
    }
    // The folder exists and is empty. It may be the current folder of a shell, so the files are moved into it one by one.
    for (count, file) in starter.files.iter().enumerate() {
        if let Err(error) = fs::rename(unfinished.path().join(&file.name), folder.join(&file.name)) {
            for moved in &starter.files[..count] {
                let _ = fs::remove_file(folder.join(&moved.name));
            }
            return Err(failed(error));
        }
    }
    Ok(())
}

/// Result of building.
enum BuildResult {
    Nothing,
    Done,
    /// Reason of the failure.
    Failed(String),
}

/// Builds the bot without the sandbox. The sources are Agon's own, so this is safe.
fn build(folder: &Path, command: &str) -> BuildResult {
    let program = match Program::from_command(command, folder) {
        Ok(program) => program,
        Err(error) => return BuildResult::Failed(error.to_string()),
    };
    output::note(&format!("building: {command}"));
    let (first, rest) = (&program.words[0], &program.words[1..]);
    match Command::new(first).args(rest).current_dir(folder).output() {
        Ok(output) if output.status.success() => BuildResult::Done,
        Ok(output) => {
            BuildResult::Failed(format!("{command}\n{}", String::from_utf8_lossy(&output.stderr).trim_end()))
        }
        Err(error) => BuildResult::Failed(format!("{command}: {error}")),
    }
}
