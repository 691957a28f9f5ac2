//! The words of the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use agon_venue::SandboxMode;

use crate::grid::cli::Nats;
use crate::logging::LogOptions;

pub use crate::competition::cli::{Export, Import, Init, Report, Run, Table, Update};
pub use crate::grid::cli::{Worker, Workers};
pub use crate::server_client::cli::{Serve, Submit};

/// Plays programming-bot competitions: five games, your bots, fair play, true records.
#[derive(Parser, Debug)]
#[command(
    name = "agon",
    version,
    arg_required_else_help = true,
    after_help = "Exit codes: 0 done; 1 the answer is no; 2 wrong use; 3 something broke.\n\
                  Data goes to stdout, progress and messages to stderr. NO_COLOR is honoured."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// The log.
    #[command(flatten)]
    pub logs: LogOptions,
}

/// What to do.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Play five small competitions, one of each game, and show them in the browser
    Demo(Demo),
    /// List the games, or show one game's seats, settings, clock and faults
    Games(Games),
    /// List the house bots of a game, weakest first
    Bots(Bots),
    /// Show the starting position of a game
    Show(Show),
    /// Write a bot that already plays legally, in the language you like
    New(New),
    /// Play games between bots (or against them yourself)
    Play(Play),
    /// Would this bot be accepted? What is wrong, where, and a trial game
    Check(Check),
    /// Time bots: mean, min, max, p50, p99 of a move; where a Python bot spends it
    Trial(Trial),
    /// Is NEW better than OLD? Plays until it knows: yes, no, or not yet
    Compare(Compare),
    /// Feed one bot of a record its observations again: the first answer that differs, or a look at one turn
    Debug(Debug),
    /// Look at a recorded game, or check it against the rules
    Replay(Replay),
    /// Write a game's own competition as a file, ready to run and to edit
    Init(Init),
    /// Run a competition from its file, or go on where it stopped
    Run(Run),
    /// The tables of a competition
    Table(Table),
    /// A competition's tables, games, histories and records as files, or all of it as one
    Export(Export),
    /// Make a ledger, in a file or a database, of what `agon export --archive` wrote
    Import(Import),
    /// A competition as pages for the browser: tables, charts, brackets, replays
    Report(Report),
    /// Give competitions a place on the web: live tables, replays, uploads, an organiser's desk
    Serve(Serve),
    /// Hand a bot in at a server and wait for the answer of its check
    Submit(Submit),
    /// Play matches for competitions that are run on another machine, through NATS
    Worker(Worker),
    /// Who plays for the competitions of a NATS server, and having one of them leave
    Workers(Workers),
    /// Bring entrants that are git repositories up to date and say what changed
    Update(Update),
    /// Check this machine for what Agon needs; with --nats and --database, those servers too
    Doctor(Doctor),
}

/// `agon demo`
#[derive(Args, Debug)]
pub struct Demo {
    /// Seed of all draws
    #[arg(long, value_name = "N", default_value = "2026")]
    pub seed: String,
    /// Games at once [default: one for each core]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Where to listen
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    pub listen: std::net::SocketAddr,
    /// Keep everything in this folder [default: a temporary one]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// House bots alone, also where Python is there
    #[arg(long)]
    pub house: bool,
    /// Print the tables and end
    #[arg(long)]
    pub no_serve: bool,
    /// For programs: the tables
    #[arg(long)]
    pub json: bool,
}

/// `agon games`
#[derive(Args, Debug)]
pub struct Games {
    /// Everything about this one
    pub game: Option<String>,
    /// For programs
    #[arg(long)]
    pub json: bool,
}

/// `agon bots`
#[derive(Args, Debug)]
pub struct Bots {
    /// The game's id, as `agon games` lists it
    pub game: String,
    /// For programs
    #[arg(long)]
    pub json: bool,
}

/// What makes a game: seed and settings.
#[derive(Args, Debug, Default)]
pub struct Setup {
    /// Seed of every random draw; the same seed and answers give the same game
    #[arg(long, value_name = "N")]
    pub seed: Option<String>,
    /// Change a setting, such as rounds=200; `agon games GAME` lists them
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
}

/// `agon show`
#[derive(Args, Debug)]
pub struct Show {
    /// The game's id, as `agon games` lists it
    pub game: String,
    /// Seed and settings.
    #[command(flatten)]
    pub setup: Setup,
    /// Number of seats [default: the fewest the game takes]
    #[arg(long, value_name = "N")]
    pub seats: Option<usize>,
    /// For programs
    #[arg(long)]
    pub json: bool,
}

/// `agon new`
#[derive(Args, Debug)]
#[command(
    after_help = "The folder holds the bot, a README of its own and, where the bot is a program, an agon.toml that says how it is \
                        built and run. It is built at once if the compiler is there. Then: agon play GAME DIR house:NAME"
)]
pub struct New {
    /// The game's id, as `agon games` lists it
    pub game: String,
    /// The folder to make; the bot is named after it
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// python, rust, cpp, java or js
    #[arg(long, value_name = "LANG", default_value = "python")]
    pub lang: String,
    /// Write the files only
    #[arg(long)]
    pub no_build: bool,
    /// For programs
    #[arg(long)]
    pub json: bool,
}

/// `agon play`
#[derive(Args, Debug)]
#[command(
    after_help = "BOT is house:NAME (see `agon bots GAME`), a folder with an agon.toml (see `agon new`), a Python bot (a folder, a .py, .py:Class or .zip), an entry of a players.yml (FILE#NAME, Word Racer), a command in quotes such as \"python3 bot.py\" (docs/protocol.md \
                  says what it is told and answers; for Word Racer its own lines, or json:COMMAND), or human (this \
                  terminal), one for each seat. Programs run behind the sandbox, commands in this folder."
)]
pub struct Play {
    /// The game's id, as `agon games` lists it
    pub game: String,
    /// Who sits where, in seat order
    #[arg(required = true, value_name = "BOT")]
    pub bots: Vec<String>,
    /// How many games; the first move alternates where there is one
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub games: u32,
    /// Games of one match, for games whose bots learn during a match [default: all of them]
    #[arg(long, value_name = "N")]
    pub match_games: Option<u32>,
    /// Seed and settings.
    #[command(flatten)]
    pub setup: Setup,
    /// Games at once [default: one for each core]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Keep a record of all games in this file
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Write what each program was asked, answered and printed into this folder, a file for each game and seat
    #[arg(long, value_name = "DIR")]
    pub logs: Option<PathBuf>,
    /// Whether programs run behind the sandbox; `off` only for programs you trust
    #[arg(long, value_enum, default_value_t = SandboxMode::On)]
    pub sandbox: SandboxMode,
    /// Accepted so that old scripts still run: `strict` is the only mode.
    #[arg(long, hide = true, value_name = "MODE", value_parser = only_strict)]
    pub stateless: Option<String>,
    /// Whether each game stays on a core of its own, its bots with it
    #[arg(long, value_enum, default_value_t = OnOff::On)]
    pub pin: OnOff,
    /// For programs
    #[arg(long)]
    pub json: bool,
    /// Watch the game in the terminal; a plain text dump when there is none
    #[arg(long, conflicts_with = "json")]
    pub watch: bool,
    /// In a text dump, show every Nth turn [default: about 24 pictures]
    #[arg(long, value_name = "N", requires = "watch")]
    pub every: Option<usize>,
}

/// Reads the value of `--stateless`, which has only one left.
fn only_strict(mode: &str) -> Result<String, String> {
    match mode {
        "strict" => Ok(mode.to_owned()),
        "fresh" | "audited" => {
            Err(format!("the mode `{mode}` was removed; `strict` is the only mode, leave --stateless out"))
        }
        _ => Err("`strict` is the only mode, leave --stateless out".to_owned()),
    }
}

/// On or off.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnOff {
    /// Yes.
    On,
    /// No.
    Off,
}

/// `agon check`
#[derive(Args, Debug)]
#[command(
    after_help = "BOT is a Python bot (a folder, a .py, .py:Class or .zip), a players.yml entry (FILE#NAME), a command in quotes or \
                  json:COMMAND. What it learns in the trial is not kept. Exit code 0: accepted; 1: not, and what to mend."
)]
pub struct Check {
    /// The game's id, as `agon games` lists it
    pub game: String,
    /// The bot
    pub bot: String,
    /// Seed and settings of the trial game.
    #[command(flatten)]
    pub setup: Setup,
    /// Whether the bot runs behind the sandbox; `off` only for programs you trust
    #[arg(long, value_enum, default_value_t = SandboxMode::On)]
    pub sandbox: SandboxMode,
    /// For programs
    #[arg(long)]
    pub json: bool,
}

/// `agon replay`
#[derive(Args, Debug)]
pub struct Replay {
    /// A file written by `agon play ... --record FILE`
    pub record: PathBuf,
    /// Check every turn and result against the rules; exit code 1 if anything differs
    #[arg(long)]
    pub verify: bool,
    /// Watch in the terminal; a plain text dump when there is none
    #[arg(long, conflicts_with = "json")]
    pub watch: bool,
    /// Which game of the file, from 1 [default: all]
    #[arg(long, value_name = "K")]
    pub game: Option<usize>,
    /// In a text dump, show every Nth turn [default: about 24 pictures]
    #[arg(long, value_name = "N", requires = "watch")]
    pub every: Option<usize>,
    /// Write the replay as a page of its own, to be opened in a browser
    #[arg(long, value_name = "FILE", conflicts_with_all = ["watch", "json"])]
    pub html: Option<PathBuf>,
    /// For programs
    #[arg(long)]
    pub json: bool,
    /// With --json: the view frames too, as a first frame and deltas
    #[arg(long, requires = "json")]
    pub frames: bool,
    /// A file the game was played with in place of what Agon ships, such as words=FILE
    #[arg(long = "set", value_name = "KEY=FILE")]
    pub settings: Vec<String>,
}

/// `agon trial`
#[derive(Args, Debug)]
#[command(
    after_help = "Each BOT is tried by itself: it sits at the first seat (in Hide and Seek in each role it can play), the others are house bots. One game \
                  is played at a time, so that nothing but the bot is timed. Times are what a clock would charge: wall time without waiting for a \
                  processor."
)]
pub struct Trial {
    /// The game's id, as `agon games` lists it
    pub game: String,
    /// Whom to time, one after the other
    #[arg(required = true, value_name = "BOT")]
    pub bots: Vec<String>,
    /// Games for each bot
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub games: u32,
    /// Seed and settings.
    #[command(flatten)]
    pub setup: Setup,
    /// Who sits at the other seats [default: the weakest house bot]
    #[arg(long, value_name = "BOT")]
    pub opponent: Option<String>,
    /// Number of seats, where a game takes more or fewer [default: the fewest it takes]
    #[arg(long, value_name = "N")]
    pub seats: Option<usize>,
    /// Only in this role, such as seeker
    #[arg(long, value_name = "ROLE")]
    pub role: Option<String>,
    /// Write a profile of a Python bot for pstats and tools built on it, and print its ten hottest lines
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
    /// Whether programs run behind the sandbox; `off` only for programs you trust
    #[arg(long, value_enum, default_value_t = SandboxMode::On)]
    pub sandbox: SandboxMode,
    /// For programs
    #[arg(long)]
    pub json: bool,
}

/// `agon compare`
#[derive(Args, Debug)]
#[command(
    after_help = "In Connect Five and Word Racer NEW and OLD meet, twice on each seed with sides swapped, and Elo is what it is in chess. In games of many seats, in Hide and Seek and \
                  with --against, each of them plays the same seat in the same field on the same seed, and the difference of their scores is tested; 347 Elo are \
                  then one standard deviation of that difference (35 a tenth of it). A wider gap between elo0 and elo1 takes fewer games. What bots learn is not kept afterwards.\n\n\
                  Exit code 0: yes. 1: no, or not yet (the games were used up, or CTRL-C: what is known is printed)."
)]
pub struct Compare {
    /// The game's id, as `agon games` lists it
    pub game: String,
    /// The bot that may be better (BOT as in `agon play`)
    #[arg(value_name = "NEW")]
    pub new: String,
    /// The bot it is compared with
    #[arg(value_name = "OLD")]
    pub old: String,
    /// No, if NEW is better by no more than this
    #[arg(long, value_name = "ELO", default_value_t = 0.0, allow_negative_numbers = true)]
    pub elo0: f64,
    /// Yes, if NEW is better by at least this [default: 10; 35 where they do not meet]
    #[arg(long, value_name = "ELO", allow_negative_numbers = true)]
    pub elo1: Option<f64>,
    /// How often a wrong yes is allowed
    #[arg(long, value_name = "SHARE", default_value_t = 0.05)]
    pub alpha: f64,
    /// How often a wrong no is allowed
    #[arg(long, value_name = "SHARE", default_value_t = 0.05)]
    pub beta: f64,
    /// Whom both play against, drawn anew for each pair of games [default: each other; house bots where many play]
    #[arg(long, value_name = "BOT", num_args = 1..)]
    pub against: Vec<String>,
    /// Only in this role, such as seeker [default: the one that both play]
    #[arg(long, value_name = "ROLE")]
    pub role: Option<String>,
    /// Give up after so many games
    #[arg(long, value_name = "MAX", default_value_t = 20_000)]
    pub games: u32,
    /// Games of one match, for games whose bots learn during a match; a pair is then two matches
    #[arg(long, value_name = "N")]
    pub match_games: Option<u32>,
    /// Seed and settings.
    #[command(flatten)]
    pub setup: Setup,
    /// Games at once [default: one for each core]; never changes the answer
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Whether programs run behind the sandbox; `off` only for programs you trust
    #[arg(long, value_enum, default_value_t = SandboxMode::On)]
    pub sandbox: SandboxMode,
    /// Accepted so that old scripts still run: `strict` is the only mode.
    #[arg(long, hide = true, value_name = "MODE", value_parser = only_strict)]
    pub stateless: Option<String>,
    /// Whether each game stays on a core of its own, its bots with it
    #[arg(long, value_enum, default_value_t = OnOff::On)]
    pub pin: OnOff,
    /// For programs: a line of JSON now and then, and one at the end
    #[arg(long)]
    pub json: bool,
}

/// `agon debug`
#[derive(Args, Debug)]
#[command(
    after_help = "The bot is told what it was told in the game, with the same seed, but no time limit holds. Without --turn, exit code 0 says \
                  that every answer is the recorded one, 1 that one differs. In a match of Connect Five the games before are played through too, so that \
                  the bot knows what it knew."
)]
pub struct Debug {
    /// A file written by `agon play ... --record FILE`
    pub record: PathBuf,
    /// Whose observations, counted from 0
    #[arg(long, value_name = "N")]
    pub seat: usize,
    /// Which game of the file, from 1 [default: the only one]
    #[arg(long, value_name = "K")]
    pub game: Option<usize>,
    /// Go to this turn and show what the bot sees, answers and prints there
    #[arg(long, value_name = "K")]
    pub turn: Option<u32>,
    /// Ask this bot [default: the recorded one, found from this folder]
    #[arg(long, value_name = "BOT")]
    pub bot: Option<String>,
    /// Stop in a Python bot's own function at the turn [default turn: its first fault, else its first]; without the sandbox
    #[arg(long, conflicts_with = "json")]
    pub pdb: bool,
    /// Whether programs run behind the sandbox; `off` only for programs you trust
    #[arg(long, value_enum, default_value_t = SandboxMode::On)]
    pub sandbox: SandboxMode,
    /// For programs
    #[arg(long)]
    pub json: bool,
    /// A file the game was played with in place of what Agon ships, such as words=FILE
    #[arg(long = "set", value_name = "KEY=FILE")]
    pub settings: Vec<String>,
}

/// `agon doctor`
#[derive(Args, Debug)]
#[command(
    after_help = "With --nats, everything that a league on many machines needs is tried as the user that the address names, under names of its own, and cleared away \
                  again: reaching it, TLS, the user's rights, JetStream with its limits, a queue, files, who else is there. With --database likewise. No check waits \
                  longer than 10 seconds. Exit code 1: something is missing."
)]
pub struct Doctor {
    /// A PostgreSQL database to look at, `postgres://USER@HOST:PORT/NAME`; the password is best in PGPASSWORD or ~/.pgpass
    #[arg(long, value_name = "URL")]
    pub database: Option<String>,
    /// For programs
    #[arg(long)]
    pub json: bool,
    /// A NATS server to look at.
    #[command(flatten)]
    pub nats: Nats,
}
