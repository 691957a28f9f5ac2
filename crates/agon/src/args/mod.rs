//! Arguments of the command line (clap structs). Doc comments of fields are help texts.

mod competition;
pub mod grid;
mod log;
mod server;

use std::path::{Path, PathBuf};

use agon_bots::debug_line::PythonOptions;
use clap::{Args, Parser, Subcommand, ValueEnum};

pub use agon_bots::SandboxMode;

use grid::Nats;

pub use competition::{Export, Import, Init, Report, Run, Table, Update};
pub use grid::{Worker, Workers};
pub use log::{LogFormat, LogOptions};
pub use server::{PlayAccess, PracticeMode, Serve, SignUp, SmtpTls, Submit};

/// Runs programming-bot competitions: five games, your bots, reproducible records.
#[derive(Parser, Debug)]
#[command(
    name = "agon",
    version,
    arg_required_else_help = true,
    after_help = "Exit codes: 0 success; 1 negative result; 2 usage error; 3 internal error.\n\
                  Data goes to stdout; progress and messages go to stderr. NO_COLOR turns colours off."
)]
pub struct Cli {
    /// The command to run.
    #[command(subcommand)]
    pub command: Command,
    /// The log.
    #[command(flatten)]
    pub logs: LogOptions,
}

/// Commands of `agon`.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Play five small competitions, one per game, and show them in the browser
    Demo(Demo),
    /// List the games, or show one game's seats, settings, clock and faults
    Games(Games),
    /// List the house bots of a game, weakest first
    Bots(Bots),
    /// Show the starting position of a game
    Show(Show),
    /// Create a starter bot that plays legal moves, in a language of your choice
    New(New),
    /// Play games between bots, or against bots yourself
    Play(Play),
    /// Check a bot: source, loading, trial games
    Check(Check),
    /// Time bots: mean, min, max, p50 and p99 per move; profile a Python bot
    Trial(Trial),
    /// Test whether bot NEW is better than bot OLD: yes, no, or not yet
    Compare(Compare),
    /// Replay a recorded game against a bot: find the first answer that differs, or inspect one turn
    Debug(Debug),
    /// Show a recorded game, or check it against the rules
    Replay(Replay),
    /// Write a competition file for a game, ready to run and to edit
    Init(Init),
    /// Run a competition from its file, or resume it
    Run(Run),
    /// Print the tables of a competition
    Table(Table),
    /// Export tables, games, histories and records as files, or the whole ledger as one archive
    Export(Export),
    /// Create a ledger, in a file or a database, from an archive of `agon export --archive`
    Import(Import),
    /// Write a competition as static web pages: tables, charts, brackets, replays
    Report(Report),
    /// Run the web server: live tables, replays, uploads, organiser dashboard
    Serve(Serve),
    /// Submit a bot to a server and wait for the check result
    Submit(Submit),
    /// Play matches for competitions that run on another machine, through NATS
    Worker(Worker),
    /// List workers, or drain one
    Workers(Workers),
    /// Update entrants that are git repositories, and list what changed
    Update(Update),
    /// Check that this machine has what Agon needs; with --nats and --database, check those servers too
    Doctor(Doctor),
    /// Print a completion script for bash, zsh or fish
    Completions(Completions),
    /// Write man pages, one for each command
    Man(Man),
}

/// `agon completions`
#[derive(Args, Debug)]
#[command(after_help = "bash: agon completions bash > ~/.local/share/bash-completion/completions/agon\n\
                  zsh: agon completions zsh > DIR/_agon, for a DIR in $fpath\n\
                  fish: agon completions fish > ~/.config/fish/completions/agon.fish")]
pub struct Completions {
    /// Shell that reads the script
    #[arg(value_enum)]
    pub shell: CompletionShell,
}

/// Shell of a completion script.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum CompletionShell {
    /// GNU Bash
    Bash,
    /// Z shell
    Zsh,
    /// fish
    Fish,
}

/// `agon man`
#[derive(Args, Debug)]
#[command(after_help = "Read one with: man DIR/agon-play.1")]
pub struct Man {
    /// Folder for the pages; created if it does not exist
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

/// `agon demo`
#[derive(Args, Debug)]
pub struct Demo {
    /// Seed of all random draws
    #[arg(long, value_name = "N", default_value = "2026")]
    pub seed: String,
    /// Parallel games [default: number of CPU cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Address to listen on
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    pub listen: std::net::SocketAddr,
    /// Data folder [default: a temporary folder]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Use house bots only, even if Python is installed
    #[arg(long)]
    pub house: bool,
    /// Print the tables and exit
    #[arg(long)]
    pub no_serve: bool,
    /// Print the tables as JSON
    #[arg(long)]
    pub json: bool,
}

/// `agon games`
#[derive(Args, Debug)]
pub struct Games {
    /// Show all details of this game
    pub game: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `agon bots`
#[derive(Args, Debug)]
pub struct Bots {
    /// Game id, as listed by `agon games`
    pub game: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Seed and settings of a game.
#[derive(Args, Debug, Default)]
pub struct Setup {
    /// Seed of every random draw; the same seed and answers give the same game
    #[arg(long, value_name = "N")]
    pub seed: Option<String>,
    /// Change a setting, such as rounds=200; `agon games GAME` lists the settings
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
}

/// `agon show`
#[derive(Args, Debug)]
pub struct Show {
    /// Game id, as listed by `agon games`
    pub game: String,
    /// Seed and settings.
    #[command(flatten)]
    pub setup: Setup,
    /// Number of seats [default: the game's minimum]
    #[arg(long, value_name = "N")]
    pub seats: Option<usize>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `agon new`
#[derive(Args, Debug)]
#[command(
    after_help = "The folder gets the bot, a README and, if the bot is a program, an agon.toml that says how to build and run it. \
                  Agon builds the bot at once if the compiler is installed. Next step: agon play GAME DIR house:NAME"
)]
pub struct New {
    /// Game id, as listed by `agon games`
    pub game: String,
    /// Folder to create; the bot gets its name
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Language: python, rust, cpp, java or js; scala for Word Racer
    #[arg(long, value_name = "LANG", default_value = "python")]
    pub lang: String,
    /// Write the files, but do not build the bot
    #[arg(long)]
    pub no_build: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `agon play`
#[derive(Args, Debug)]
#[command(
    after_help = "BOT is house:NAME (see `agon bots GAME`), a folder or .zip with an agon.toml (see `agon new`), a Python bot (a folder, a .py, .py:Class or .zip), an entry of a players.yml (FILE#NAME, Word Racer), a command in quotes such as \"python3 bot.py\" (docs/protocol.md \
 describes the protocol; in Word Racer a command speaks the game's text protocol, json:COMMAND speaks JSON), or human (you, in this \
 terminal, or with --web in the browser). Name one BOT for each seat. Programs run in the sandbox. Commands start in the current folder.\n\n\
 Exit code 0: all games were played. 1: stopped by CTRL-C; the table so far is printed."
)]
pub struct Play {
    /// Game id, as listed by `agon games`
    pub game: String,
    /// Bots in seat order
    #[arg(required = true, value_name = "BOT")]
    pub bots: Vec<String>,
    /// Number of games; in turn-based games the first move alternates. CTRL-C stops after the current games: the table, the record and the logs hold what was played
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub games: u32,
    /// Games per match, for games whose bots learn during a match [default: all games]
    #[arg(long, value_name = "N")]
    pub match_games: Option<u32>,
    /// Seed and settings.
    #[command(flatten)]
    pub setup: Setup,
    /// Parallel games [default: number of CPU cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Write a record of all games to this file
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Overwrite the file of --record if it exists
    #[arg(long, requires = "record")]
    pub force: bool,
    /// Write requests, answers and output of each program to this folder, one file per game and seat; the logs of an earlier run are removed
    #[arg(long, value_name = "DIR")]
    pub logs: Option<PathBuf>,
    /// Run programs in the sandbox; use `off` only for programs you trust
    #[arg(long, value_enum, default_value_t = SandboxMode::On)]
    pub sandbox: SandboxMode,
    /// Interpreter and packages for Python bots.
    #[command(flatten)]
    pub python: Python,
    /// Ignored; kept so that old scripts still run. `strict` is the only mode.
    #[arg(long, hide = true, value_name = "MODE", value_parser = only_strict)]
    pub stateless: Option<String>,
    /// Pin each game and its bots to one CPU core
    #[arg(long, value_enum, default_value_t = OnOff::On)]
    pub pin: OnOff,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Watch the game in the terminal; without a terminal, print it as text
    #[arg(long, conflicts_with = "json")]
    pub watch: bool,
    /// Print every Nth turn as text [default: about 24 turns of the game]
    #[arg(long, value_name = "N", requires = "watch")]
    pub every: Option<usize>,
    /// Show ids as numbers instead of letters, in a game that has ids; in the full-screen player, press i
    #[arg(long, requires = "watch")]
    pub numbers: bool,
    /// Play step by step: show each turn and wait for Enter before the next one
    #[arg(long, conflicts_with_all = ["json", "watch"])]
    pub step: bool,
    /// Play your seats in the browser: prints a link for each `human`; only this machine can open it
    #[arg(long, conflicts_with_all = ["watch", "step", "logs", "match_games"])]
    pub web: bool,
    /// Clock of persons in the browser: that of the rules, or none [default: none]; bots always have the clock of the rules
    #[arg(long, value_enum, requires = "web")]
    pub clock: Option<PlayClock>,
    /// Open the links in the browser
    #[arg(long, requires = "web")]
    pub open: bool,
}

/// Value of `--clock`.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlayClock {
    /// The time limits of the rules
    Rules,
    /// No time limit for persons
    None,
}

/// Parses `--stateless`. Only the value `strict` is left.
fn only_strict(mode: &str) -> Result<String, String> {
    match mode {
        "strict" => Ok(mode.to_owned()),
        "fresh" | "audited" => {
            Err(format!("the mode `{mode}` was removed; `strict` is the only mode: omit --stateless"))
        }
        _ => Err("`strict` is the only mode: omit --stateless".to_owned()),
    }
}

/// Value of `--pin`.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnOff {
    /// One CPU core for each game: steady times, because games do not disturb each other
    On,
    /// The operating system distributes the games over the cores
    Off,
}

/// `agon check`
#[derive(Args, Debug)]
#[command(
    after_help = "BOT is a Python bot (a folder, a .py, .py:Class or .zip), a folder or .zip with an agon.toml, a players.yml entry (FILE#NAME), a command in quotes or \
                  json:COMMAND. After a short trial game the bot plays games of full length against a weak and a strong house bot, each for at most 15 seconds. \
                  A fault for which the rules only let the bot stay where it is gives a warning. What the bot learns is discarded.\n\n\
                  Exit code 0: accepted; 1: not accepted, with the problems to fix."
)]
pub struct Check {
    /// Game id, as listed by `agon games`
    pub game: String,
    /// Bot to check
    pub bot: String,
    /// Seed and settings of the trial games.
    #[command(flatten)]
    pub setup: Setup,
    /// Number of seats [default: the game's minimum]
    #[arg(long, value_name = "N")]
    pub seats: Option<usize>,
    /// Write a record of the trial games to this file
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Overwrite the file of --record
    #[arg(long, requires = "record")]
    pub force: bool,
    /// Write requests, answers and output of the bot to this folder, one file per trial game
    #[arg(long, value_name = "DIR")]
    pub logs: Option<PathBuf>,
    /// Run the bot in the sandbox; use `off` only for programs you trust
    #[arg(long, value_enum, default_value_t = SandboxMode::On)]
    pub sandbox: SandboxMode,
    /// Interpreter and packages for Python bots.
    #[command(flatten)]
    pub python: Python,
    /// Python module that the bot may not import, as in `forbidden_libraries` of a competition file; repeatable
    #[arg(long = "forbid", value_name = "LIBRARY")]
    pub forbidden: Vec<String>,
    /// Maximum size of a .zip in MiB, like `max_zip_mib` of a competition file [default: 64]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub max_zip_mib: Option<u32>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Theme of a picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum PictureTheme {
    /// Dark on light
    Light,
    /// Light on dark
    Dark,
}

/// `agon replay`
#[derive(Args, Debug)]
pub struct Replay {
    /// A file written by `agon play ... --record FILE`
    pub record: PathBuf,
    /// Check every turn and result against the rules; exit code 1 if anything differs
    #[arg(long)]
    pub verify: bool,
    /// Watch the game in the terminal; without a terminal, print it as text
    #[arg(long, conflicts_with = "json")]
    pub watch: bool,
    /// Number of the game in the file, from 1 [default: all games]
    #[arg(long, value_name = "K")]
    pub game: Option<usize>,
    /// Print every Nth turn as text [default: about 24 turns of the game]
    #[arg(long, value_name = "N", requires = "watch")]
    pub every: Option<usize>,
    /// Show ids as numbers instead of letters, in a game that has ids; in the full-screen player, press i
    #[arg(long, requires = "watch")]
    pub numbers: bool,
    /// Write the replay as one HTML page
    #[arg(long, value_name = "FILE", conflicts_with_all = ["watch", "json"])]
    pub html: Option<PathBuf>,
    /// Write one turn as a picture
    #[arg(long, value_name = "FILE", conflicts_with_all = ["watch", "json", "html", "verify"])]
    pub png: Option<PathBuf>,
    /// Write the game, or a part of it, as an animated GIF
    #[arg(long, value_name = "FILE", conflicts_with_all = ["watch", "json", "html", "verify"])]
    pub gif: Option<PathBuf>,
    /// With --png: the turn, 0 for the start [default: the end]
    #[arg(long, value_name = "N", requires = "png")]
    pub turn: Option<usize>,
    /// With --gif: the first turn, 0 for the start [default: 0]
    #[arg(long, value_name = "N", requires = "gif")]
    pub from: Option<usize>,
    /// With --gif: the last turn [default: the end]
    #[arg(long, value_name = "M", requires = "gif")]
    pub to: Option<usize>,
    /// With --gif: turns per second [default: about 20 seconds for the whole]
    #[arg(long, value_name = "N", requires = "gif")]
    pub speed: Option<f64>,
    /// With --png or --gif: what this seat could see, instead of everything
    #[arg(long, value_name = "N")]
    pub seat: Option<u8>,
    /// With --png or --gif: width in pixels [default: 640]
    #[arg(long, value_name = "PIXELS")]
    pub width: Option<u32>,
    /// With --png or --gif: the theme
    #[arg(long, value_enum, default_value_t = PictureTheme::Dark)]
    pub theme: PictureTheme,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// With --json: include the view frames (the first frame, then deltas)
    #[arg(long, requires = "json")]
    pub frames: bool,
    /// File that the game was played with instead of the one that Agon ships, such as words=FILE
    #[arg(long = "set", value_name = "KEY=FILE")]
    pub settings: Vec<String>,
}

/// `agon trial`
#[derive(Args, Debug)]
#[command(
    after_help = "Agon times each BOT separately. The BOT plays the first seat (in Hide and Seek each role that it can play), house bots play the others. Games \
                  run one at a time, so that they do not disturb the times. Times are what the game's clock would charge: wall time without waiting for a \
                  processor.\n\nExit code 0: all games were played. 1: a bot gave no answer, or you pressed CTRL-C; the table so far is printed."
)]
pub struct Trial {
    /// Game id, as listed by `agon games`
    pub game: String,
    /// Bots to time
    #[arg(required = true, value_name = "BOT")]
    pub bots: Vec<String>,
    /// Games per bot
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub games: u32,
    /// Seed and settings.
    #[command(flatten)]
    pub setup: Setup,
    /// Bot at the other seats [default: the weakest house bot]
    #[arg(long, value_name = "BOT")]
    pub opponent: Option<String>,
    /// Number of seats [default: the game's minimum]
    #[arg(long, value_name = "N")]
    pub seats: Option<usize>,
    /// Time the bot in this role only, such as seeker
    #[arg(long, value_name = "ROLE")]
    pub role: Option<String>,
    /// Write a profile of a Python bot for pstats, and print its ten hottest lines
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
    /// Run programs in the sandbox; use `off` only for programs you trust
    #[arg(long, value_enum, default_value_t = SandboxMode::On)]
    pub sandbox: SandboxMode,
    /// Interpreter and packages for Python bots.
    #[command(flatten)]
    pub python: Python,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `agon compare`
#[derive(Args, Debug)]
#[command(
    after_help = "In Connect Five and Word Racer, NEW and OLD play each other, twice per seed with sides swapped, and Elo means the same as in chess. In games with many seats, in Hide and Seek and \
                  with --against, NEW and OLD play the same seat against the same opponents on the same seed. Agon then tests the difference of their scores; 347 Elo are \
                  one standard deviation of that difference, 35 Elo a tenth of it. A wider gap between elo0 and elo1 takes fewer games. What bots learn is discarded.\n\n\
                  Exit code 0: yes. 1: no, or not yet (all games were played, or you pressed CTRL-C; the result so far is printed)."
)]
pub struct Compare {
    /// Game id, as listed by `agon games`
    pub game: String,
    /// Bot that may be better (BOT as in `agon play`)
    #[arg(value_name = "NEW")]
    pub new: String,
    /// Bot to compare it with
    #[arg(value_name = "OLD")]
    pub old: String,
    /// Answer no if NEW is better by at most this
    #[arg(long, value_name = "ELO", default_value_t = 0.0, allow_negative_numbers = true)]
    pub elo0: f64,
    /// Answer yes if NEW is better by at least this [default: 10, or 35 if they do not play each other]
    #[arg(long, value_name = "ELO", allow_negative_numbers = true)]
    pub elo1: Option<f64>,
    /// Maximum probability of a wrong yes
    #[arg(long, value_name = "SHARE", default_value_t = 0.05)]
    pub alpha: f64,
    /// Maximum probability of a wrong no
    #[arg(long, value_name = "SHARE", default_value_t = 0.05)]
    pub beta: f64,
    /// Opponents of both bots, drawn again for each pair of games [default: each other; house bots in games with many seats]
    #[arg(long, value_name = "BOT", num_args = 1..)]
    pub against: Vec<String>,
    /// Role to play, such as seeker [default: the role that both bots play]
    #[arg(long, value_name = "ROLE")]
    pub role: Option<String>,
    /// Maximum number of games
    #[arg(long, value_name = "MAX", default_value_t = 20_000)]
    pub games: u32,
    /// Games per match, for games whose bots learn during a match; a pair is then two matches
    #[arg(long, value_name = "N")]
    pub match_games: Option<u32>,
    /// Seed and settings.
    #[command(flatten)]
    pub setup: Setup,
    /// Parallel games [default: number of CPU cores]; does not change the result
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Run programs in the sandbox; use `off` only for programs you trust
    #[arg(long, value_enum, default_value_t = SandboxMode::On)]
    pub sandbox: SandboxMode,
    /// Interpreter and packages for Python bots.
    #[command(flatten)]
    pub python: Python,
    /// Ignored; kept so that old scripts still run. `strict` is the only mode.
    #[arg(long, hide = true, value_name = "MODE", value_parser = only_strict)]
    pub stateless: Option<String>,
    /// Pin each game and its bots to one CPU core
    #[arg(long, value_enum, default_value_t = OnOff::On)]
    pub pin: OnOff,
    /// Print JSON: progress lines, then one line with the result
    #[arg(long)]
    pub json: bool,
}

/// `agon debug`
#[derive(Args, Debug)]
#[command(
    after_help = "The bot gets the same messages and the same seed as in the recorded game, but no time limit applies. Without --turn, exit code 0 means \
                  that every answer is as recorded, 1 that one differs. In a match of Connect Five, Agon also replays the earlier games of the match, so that \
                  the bot has the same knowledge."
)]
pub struct Debug {
    /// A file written by `agon play ... --record FILE`
    pub record: PathBuf,
    /// Seat of the bot, from 0
    #[arg(long, value_name = "N")]
    pub seat: usize,
    /// Number of the game in the file, from 1 [default: the only game]
    #[arg(long, value_name = "K")]
    pub game: Option<usize>,
    /// Show what the bot sees, answers and prints in this turn
    #[arg(long, value_name = "K")]
    pub turn: Option<u32>,
    /// Bot to ask [default: the recorded bot, with paths relative to the current folder]
    #[arg(long, value_name = "BOT")]
    pub bot: Option<String>,
    /// Stop a Python bot in pdb at the turn [default turn: its first fault, else its first turn]; runs without the sandbox
    #[arg(long, conflicts_with = "json")]
    pub pdb: bool,
    /// Let the debugger of an editor attach at the turn (debugpy), on this port of 127.0.0.1; otherwise like --pdb
    #[arg(long, value_name = "PORT", conflicts_with_all = ["json", "pdb"])]
    pub attach: Option<u16>,
    /// Run programs in the sandbox; use `off` only for programs you trust
    #[arg(long, value_enum, default_value_t = SandboxMode::On)]
    pub sandbox: SandboxMode,
    /// Interpreter and packages for Python bots.
    #[command(flatten)]
    pub python: Python,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// File that the game was played with instead of the one that Agon ships, such as words=FILE
    #[arg(long = "set", value_name = "KEY=FILE")]
    pub settings: Vec<String>,
}

impl Debug {
    /// Whether a person debugs the bot.
    pub const fn is_interactive(&self) -> bool {
        self.pdb || self.attach.is_some()
    }
}

/// `agon doctor`
#[derive(Args, Debug)]
#[command(
    after_help = "With --nats, agon tries everything that a competition with workers needs, as the user in the address: connection, TLS, permissions, \
                  JetStream and its limits, a queue, files, other clients. It uses separate names and removes them afterwards. --database works the same way. Each check waits at \
                  most 10 seconds. Exit code 1: something is missing."
)]
pub struct Doctor {
    /// PostgreSQL database to check, `postgres://USER@HOST:PORT/NAME`; put the password in PGPASSWORD or ~/.pgpass
    #[arg(long, value_name = "URL")]
    pub database: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// NATS server to check.
    #[command(flatten)]
    pub nats: Nats,
}

/// Interpreter and packages for Python bots.
#[derive(Args, Clone, Debug, Default)]
pub struct Python {
    /// Python interpreter for bots, or the folder of a virtual environment [default: `AGON_PYTHON`, else python3]
    #[arg(long, value_name = "PYTHON")]
    pub python: Option<PathBuf>,
    /// List of Python packages that bots may import (requirements.txt), fetched once
    #[arg(long, value_name = "LIST")]
    pub packages: Option<PathBuf>,
}

impl Python {
    /// The same for lines that authors paste.
    pub fn options(&self) -> PythonOptions<'_> {
        PythonOptions { interpreter: self.python.as_deref(), packages: self.packages.as_deref() }
    }
}

impl Command {
    /// The interpreter that the command was given for its bots.
    pub fn python(&self) -> Option<&Path> {
        match self {
            Self::Play(args) => args.python.python.as_deref(),
            Self::Check(args) => args.python.python.as_deref(),
            Self::Trial(args) => args.python.python.as_deref(),
            Self::Compare(args) => args.python.python.as_deref(),
            Self::Debug(args) => args.python.python.as_deref(),
            Self::Run(args) => args.python.as_deref(),
            _ => None,
        }
    }

    /// The list of packages that the command was given for its bots. (`agon run` has it in the competition file.)
    pub fn packages(&self) -> Option<&Path> {
        match self {
            Self::Play(args) => args.python.packages.as_deref(),
            Self::Check(args) => args.python.packages.as_deref(),
            Self::Trial(args) => args.python.packages.as_deref(),
            Self::Compare(args) => args.python.packages.as_deref(),
            Self::Debug(args) => args.python.packages.as_deref(),
            Self::Serve(args) => args.packages.as_deref(),
            Self::Worker(args) => args.packages.as_deref(),
            _ => None,
        }
    }
}
