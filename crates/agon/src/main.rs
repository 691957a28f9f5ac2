//! The command line program. Contains no logic that other crates need.

mod args;
mod commands;
mod competition;
mod console;
mod debug_command;
mod errors;
mod exit_code;
mod grid;
mod logging;
mod logs;
mod output;
mod output_file;
mod pretty;
mod print_count;
mod record_files;
mod server_client;
mod setup;
mod stop_requests;
mod watch;

use std::process::ExitCode;

use agon_bots::Diagnostic;
use clap::Parser;
use clap::error::ErrorKind;

use args::{Cli, Command};

fn main() -> ExitCode {
    // Agon starts itself again as the launcher that puts a bot into the sandbox. In that case this call never returns.
    agon_host::sandbox::run_launcher_if_requested();
    let done = match Cli::try_parse() {
        Ok(cli) => logging::start(&cli.logs, &cli.command).and_then(|()| run(cli.command)),
        Err(error)
            if error.use_stderr() && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand =>
        {
            Err(errors::from_clap(&error))
        }
        // The user asked for the help or the version.
        Err(error) => error.exit(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            errors::show(&failure);
            ExitCode::from(exit_code::exit_code(failure.kind))
        }
    }
}

fn run(command: Command) -> Result<(), Diagnostic> {
    if let Some(python) = command.python() {
        agon_host::python::choose(python);
    }
    if let Some(list) = command.packages() {
        agon_host::python_packages::use_packages(agon_host::python_packages::build(list)?);
    }
    match command {
        Command::Demo(args) => commands::demo::run(&args),
        Command::Games(args) => commands::games::run(&args),
        Command::Bots(args) => commands::bots::run(&args),
        Command::Show(args) => commands::show::run(&args),
        Command::New(args) => commands::new::run(&args),
        Command::Play(args) => commands::play::run(&args),
        Command::Check(args) => commands::check::run(&args),
        Command::Trial(args) => commands::trial::run(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Debug(args) => commands::debug::run(&args),
        Command::Replay(args) => commands::replay::run(&args),
        Command::Serve(args) => commands::serve::run(&args),
        Command::Submit(args) => commands::submit::run(&args),
        Command::Run(args) => commands::run::run(&args),
        Command::Export(args) => commands::export::run(&args),
        Command::Import(args) => commands::import::run(&args),
        Command::Report(args) => commands::report::run(&args),
        Command::Table(args) => commands::table::run(&args),
        Command::Init(args) => commands::init::run(&args),
        Command::Worker(args) => commands::worker::run(&args),
        Command::Workers(args) => commands::workers::run(&args),
        Command::Update(args) => commands::update::run(&args),
        Command::Doctor(args) => commands::doctor::run(&args),
        Command::Completions(args) => commands::completions::run(&args),
        Command::Man(args) => commands::completions::write_man_pages(&args),
    }
}
