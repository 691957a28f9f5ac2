//! Arguments of the commands for competitions.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use agon_competition::LedgerLocation;
use clap::Args;

use crate::args::OnOff;
use crate::args::grid::CoordinatorArgs;

/// Location of a competition's ledger.
#[derive(Args, Clone, Default)]
pub struct LedgerArgs {
    /// Keep the ledger in this PostgreSQL database (postgres://USER@HOST:PORT/NAME), not in a file beside the competition's file;
    /// put the password in PGPASSWORD or ~/.pgpass
    #[arg(long, value_name = "URL")]
    database: Option<String>,
}

impl LedgerArgs {
    /// The ledger's location: a file or a database.
    pub fn location(&self) -> LedgerLocation {
        self.database.clone().into()
    }
}

impl fmt::Debug for LedgerArgs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.location().fmt(f)
    }
}

/// `agon init`
#[derive(Args, Debug)]
#[command(
    after_help = "The file holds the competition as the game's document describes it, with the house bots as entrants and a comment on every key. \
                  docs/competition-file.md explains all keys.\n\n\
                  BOT is a folder, a .py, .py:Class or .zip, an entry of a players.yml (FILE#NAME), or house:NAME. It gets the name of its folder or file. \
                  In a game with roles it is entered in each role, or in that of its class."
)]
pub struct Init {
    /// Game id, as listed by `agon games`
    pub game: String,
    /// File to write, such as cup.toml
    pub file: PathBuf,
    /// Enter this bot, before the house bots; may be repeated
    #[arg(long = "bot", value_name = "BOT")]
    pub bots: Vec<String>,
    /// Write a short competition instead, which is played in seconds
    #[arg(long)]
    pub short: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `agon run`
#[derive(Args, Debug)]
#[command(
    after_help = "Results are stored in a ledger beside the file (NAME.ledger), or in a database (--database). CTRL-C finishes the current games and stops; a second CTRL-C stops \
                  at once. Run the command again to resume. Before a phase with `resubmit = true` the command stops, so that bots can be replaced: run it again to start that phase. Agon prints the SHA-256 of the secret seed at the start and the seed itself at the end. With --nats, \
                  workers (`agon worker`) play the matches, and the table is the same (docs/deploying.md)."
)]
pub struct Run {
    /// Competition file (`agon init GAME FILE` writes one), or a players.yml [default: conf/players.yml]
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// For a players.yml: folder with the bots' folders; each pair plays twice, results go to DIR/results [default: run, or
    /// the list's folder if there is no folder run]
    #[arg(long, value_name = "DIR")]
    pub base: Option<PathBuf>,
    /// Parallel games [default: number of CPU cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Location of the ledger.
    #[command(flatten)]
    pub ledger: LedgerArgs,
    /// Start over; the old ledger is renamed
    #[arg(long)]
    pub fresh: bool,
    /// Play all phases without a break, also where the file has `resubmit = true`
    #[arg(long = "run-through")]
    pub without_break: bool,
    /// Pin each game and its bots to one CPU core
    #[arg(long, value_enum, default_value_t = OnOff::On)]
    pub pin: OnOff,
    /// Python interpreter for bots, or the folder of a virtual environment [default: `AGON_PYTHON`, else python3]
    #[arg(long, value_name = "PYTHON")]
    pub python: Option<PathBuf>,
    /// Print events as JSON, one object per line
    #[arg(long)]
    pub json: bool,
    /// Serve metrics of the run at `http://ADDRESS/metrics`, such as 127.0.0.1:9464
    #[arg(long, value_name = "ADDRESS")]
    pub metrics: Option<SocketAddr>,
    /// Options for playing on workers.
    #[command(flatten)]
    pub coordinator: CoordinatorArgs,
}

/// `agon table`
#[derive(Args, Debug)]
pub struct Table {
    /// Competition file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Location of the ledger.
    #[command(flatten)]
    pub ledger: LedgerArgs,
    /// Phase to show, from 1 [default: the latest that has started]
    #[arg(long, value_name = "N")]
    pub phase: Option<u32>,
    /// Output format
    #[arg(long, value_enum, default_value_t = agon_report::table_formats::TableFormat::Text)]
    pub format: agon_report::table_formats::TableFormat,
    /// Omit everything that was measured, so that the same competition always gives the same bytes
    #[arg(long)]
    pub no_times: bool,
}

/// `agon export`
#[derive(Args, Debug)]
#[command(
    after_help = "Writes table-N.json and .csv, games.csv, Solitude's history.json (beside the bots of the next phase it is published_history.json), Connect Five's logs and, when the competition is finished, records.agon. \
                  Seeds and records are secret until then.\n\n\
                  With --archive, Agon writes the whole ledger to one file. `agon import` creates a ledger from it, in a file or in a database, so that you can resume elsewhere. \
                  The archive contains the secret seed, so only you can read the file: keep it that way. Fails while the competition is running."
)]
pub struct Export {
    /// Competition file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Location of the ledger.
    #[command(flatten)]
    pub ledger: LedgerArgs,
    /// Folder to write to; created if it is missing
    #[arg(value_name = "DIR", required_unless_present = "archive")]
    pub folder: Option<PathBuf>,
    /// Write the whole ledger to this new file, such as cup.archive
    #[arg(long, value_name = "ARCHIVE")]
    pub archive: Option<PathBuf>,
    /// Print as JSON what was written
    #[arg(long)]
    pub json: bool,
}

/// `agon import`
#[derive(Args, Debug)]
#[command(
    after_help = "Put the competition file where `agon run` finds the ledger: `agon run cup.toml` resumes cup.ledger beside it, `agon run cup.toml --database URL` resumes the \
                  ledger `cup` of that database. An existing ledger is never overwritten. The ledger is created completely or not at all."
)]
pub struct Import {
    /// Archive written by `agon export FILE --archive ARCHIVE`
    #[arg(value_name = "ARCHIVE")]
    pub archive: PathBuf,
    /// Ledger file to create [default: beside the archive, with its name and .ledger]
    #[arg(long, value_name = "LEDGER", conflicts_with = "database")]
    pub to: Option<PathBuf>,
    /// Location of the new ledger.
    #[command(flatten)]
    pub ledger: LedgerArgs,
    /// Name in the database: the name of the competition file without .toml [default: the archive's name]
    #[arg(long, value_name = "NAME", requires = "database")]
    pub name: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `agon report`
#[derive(Args, Debug)]
#[command(
    after_help = "Open DIR/summary.html; the pages need no server and load nothing from the network. Games with hidden seeds, and all seeds, are omitted until the \
                  competition is finished. Without --games, up to 12 games of each phase get a page: finals, games with faults, the best, the closest, one of each pair."
)]
pub struct Report {
    /// Competition file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Folder to write to: a new one, or one that `agon report` has written
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Location of the ledger.
    #[command(flatten)]
    pub ledger: LedgerArgs,
    /// Number of games of each phase with a replay page, or `all` [default: 12]
    #[arg(long, value_name = "N")]
    pub games: Option<String>,
    /// Print as JSON what was written
    #[arg(long)]
    pub json: bool,
}

/// `agon update`
#[derive(Args, Debug)]
#[command(
    after_help = "Agon keeps each repository in .agon/git beside the file, with a separate folder for every version. It runs nothing from a \
                  repository and never asks for a password. Exit code 1: an update failed; the other repositories are updated all the same."
)]
pub struct Update {
    /// Competition file
    pub file: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
