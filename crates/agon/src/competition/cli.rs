//! The words of the commands for competitions.

use std::fmt;
use std::path::PathBuf;

use agon_competition::LedgerLocation;
use clap::Args;

use crate::cli::OnOff;
use crate::grid::cli::CoordinatorArgs;

/// Where a competition's ledger is kept.
#[derive(Args, Clone, Default)]
pub struct LedgerArgs {
    /// The ledger is in this PostgreSQL database (postgres://USER@HOST:PORT/NAME), not in a file beside the competition's; the password is best in
    /// PGPASSWORD or ~/.pgpass
    #[arg(long, value_name = "URL")]
    database: Option<String>,
}

impl LedgerArgs {
    /// File or database.
    pub fn place(&self) -> LedgerLocation {
        self.database.clone().into()
    }
}

impl fmt::Debug for LedgerArgs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place().fmt(f)
    }
}

/// `agon init`
#[derive(Args, Debug)]
#[command(
    after_help = "The file holds the competition as its document describes it, with the house bots, and a comment on every key. \
                  docs/competition-file.md explains them all."
)]
pub struct Init {
    /// The game's id, as `agon games` lists it
    pub game: String,
    /// The file to write, such as cup.toml
    pub file: PathBuf,
    /// For programs
    #[arg(long)]
    pub json: bool,
}

/// `agon run`
#[derive(Args, Debug)]
#[command(
    after_help = "Everything is kept in a ledger beside the file (NAME.ledger), or in a database (--database): CTRL-C once finishes the games that are being played, twice leaves \
                  at once, and running again goes on. The SHA-256 of the secret seed is shown at the start, the seed itself at the end. With --nats, matches are played by \
                  whoever runs `agon worker` there, and the table is the same (docs/deploying.md)."
)]
pub struct Run {
    /// The competition's file (`agon init GAME FILE` writes one), or a players.yml
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// For a players.yml: where the bots' directories are; each pair plays twice, results go to DIR/results
    #[arg(long, value_name = "DIR")]
    pub base: Option<PathBuf>,
    /// Games at once [default: one for each core]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Where the ledger is.
    #[command(flatten)]
    pub kept: LedgerArgs,
    /// Begin anew; the old ledger is kept under another name
    #[arg(long)]
    pub fresh: bool,
    /// Whether each game stays on a core of its own, its bots with it
    #[arg(long, value_enum, default_value_t = OnOff::On)]
    pub pin: OnOff,
    /// What happens, one JSON object a line
    #[arg(long)]
    pub json: bool,
    /// Played by whom.
    #[command(flatten)]
    pub fleet: CoordinatorArgs,
}

/// `agon table`
#[derive(Args, Debug)]
pub struct Table {
    /// The competition's file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Where the ledger is.
    #[command(flatten)]
    pub kept: LedgerArgs,
    /// Of this phase, from 1 [default: the latest that was begun]
    #[arg(long, value_name = "N")]
    pub phase: Option<u32>,
    /// How it is written
    #[arg(long, value_enum, default_value_t = agon_report::table_formats::Format::Text)]
    pub format: agon_report::table_formats::Format,
    /// Leave out everything that was measured: the same competition gives the same bytes again
    #[arg(long)]
    pub no_times: bool,
}

/// `agon export`
#[derive(Args, Debug)]
#[command(
    after_help = "Writes table-N.json and .csv, games.csv, Solitude's history.json, Connect Five's logs, and, once the competition is over, records.agon. \
                  Until then seeds and records are a secret.\n\n\
                  With --archive all of the ledger is written into one file, to go on with elsewhere: `agon import` makes a ledger of it, in a file or in a database. \
                  The secret seed is in it: it is readable for you alone, and should stay so. Refused while the competition is being run."
)]
pub struct Export {
    /// The competition's file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Where the ledger is.
    #[command(flatten)]
    pub kept: LedgerArgs,
    /// The folder to write into; made if it is missing
    #[arg(value_name = "DIR", required_unless_present = "archive")]
    pub folder: Option<PathBuf>,
    /// Write the whole ledger into this new file, such as cup.archive
    #[arg(long, value_name = "ARCHIVE")]
    pub archive: Option<PathBuf>,
}

/// `agon import`
#[derive(Args, Debug)]
#[command(
    after_help = "Put the competition's file where the ledger is looked for: `agon run cup.toml` goes on with cup.ledger beside it, `agon run cup.toml --database URL` with the \
                  ledger `cup` of that database. Nothing is ever written over: the ledger is made whole, or not at all."
)]
pub struct Import {
    /// What `agon export FILE --archive ARCHIVE` has written
    #[arg(value_name = "ARCHIVE")]
    pub archive: PathBuf,
    /// The ledger to make [default: the archive's name with .ledger, beside it]
    #[arg(long, value_name = "LEDGER", conflicts_with = "database")]
    pub to: Option<PathBuf>,
    /// Where the ledger is to be.
    #[command(flatten)]
    pub kept: LedgerArgs,
    /// Its name in the database: that of the competition's file, without its ending [default: the archive's]
    #[arg(long, value_name = "NAME", requires = "database")]
    pub name: Option<String>,
    /// For programs
    #[arg(long)]
    pub json: bool,
}

/// `agon report`
#[derive(Args, Debug)]
#[command(
    after_help = "Open DIR/summary.html: no server is needed, and nothing is asked of anybody. Games on hidden boards, and all seeds, are left out until the \
                  competition is over. Without --games up to 12 games of each phase have a page: of finals, with faults, the best, the closest, one of each pair."
)]
pub struct Report {
    /// The competition's file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The folder to write into: a new one, or one that `agon report` has written before
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Where the ledger is.
    #[command(flatten)]
    pub kept: LedgerArgs,
    /// How many games of each phase have a page that plays them, or `all` [default: 12]
    #[arg(long, value_name = "N")]
    pub games: Option<String>,
    /// What was written, as JSON
    #[arg(long)]
    pub json: bool,
}

/// `agon update`
#[derive(Args, Debug)]
#[command(
    after_help = "Each repository is kept in .agon/git beside the file, every version in a folder of its own. Nothing of a \
                  repository is run, and no password is asked for. Exit code 1 if one could not be brought up to date; the others are."
)]
pub struct Update {
    /// A competition's file
    pub file: PathBuf,
    /// For programs
    #[arg(long)]
    pub json: bool,
}
