//! `agon completions SHELL`: prints a completion script. `agon man DIR`: writes man pages. Both are made from the arguments of the commands.

use std::fs;

use agon_bots::Diagnostic;
use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::args::{Cli, CompletionShell, Completions, Man};
use crate::output;
use crate::output_file::OutputFile;

/// Prints the script.
pub fn run(args: &Completions) -> Result<(), Diagnostic> {
    let shell = match args.shell {
        CompletionShell::Bash => Shell::Bash,
        CompletionShell::Zsh => Shell::Zsh,
        CompletionShell::Fish => Shell::Fish,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "agon", &mut script);
    output::print(&String::from_utf8_lossy(&script))
}

/// Writes `agon.1` and a page for each command.
pub fn write_man_pages(args: &Man) -> Result<(), Diagnostic> {
    let folder = &args.folder;
    fs::create_dir_all(folder)
        .map_err(|e| Diagnostic::named_path("create the folder", folder, &e, "name another folder"))?;
    let mut program = Cli::command().disable_help_subcommand(true);
    // Gives each command its full name, such as `agon-play`.
    program.build();
    let commands = program.get_subcommands().filter(|command| !command.is_hide_set());
    let mut written = Vec::new();
    for command in std::iter::once(&program).chain(commands) {
        let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
        let mut page = Vec::new();
        clap_mangen::Man::new(command.clone()).render(&mut page)?;
        let path = folder.join(format!("{name}.1"));
        OutputFile::write(&path, "the page", &page)?;
        written.push(format!("{}\n", path.display()));
    }
    output::print(&written.concat())
}
