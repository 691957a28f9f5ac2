//! What an archive holds: the tables that all kinds of ledgers have, in an order in which they can be filled. A change of these is a new form.

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A whole number.
    Number,
    /// Text.
    Text,
    /// Bytes.
    Bytes,
}

/// What stands in a column of a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cell {
    /// Nothing.
    Empty,
    /// A whole number.
    Number(i64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// A table.
#[derive(Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Its columns.
    pub columns: &'static [(&'static str, Kind)],
    /// How many of the first columns are its key: rows come in that order.
    pub key: usize,
}

impl Table {
    /// The names of its columns, as SQL lists them.
    pub fn list(&self) -> String {
        self.columns.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    }
}

use Kind::{Bytes as B, Number as N, Text as T};

const fn table(name: &'static str, key: usize, columns: &'static [(&'static str, Kind)]) -> Table {
    Table { name, columns, key }
}

/// All of them. Snapshots and the sum of the logs are not among them: both are computed again.
pub static TABLES: [Table; 15] = [
    table(
        "competition",
        1,
        &[
            ("id", N),
            ("name", T),
            ("game", T),
            ("rules", N),
            ("engine", T),
            ("commitment", B),
            ("revealed", N),
        ],
    ),
    table("secret", 1, &[("id", N), ("seed", T)]),
    table("edition", 1, &[("edition", N), ("at", N), ("file", T), ("normal", T)]),
    table(
        "phase",
        1,
        &[
            ("phase", N),
            ("state", T),
            ("final", B),
            ("started", N),
            ("published", N),
            ("closed", N),
            ("matches", N),
            ("games", N),
            ("faults", N),
            ("last_match", N),
            ("started_under", T),
            ("published_under", T),
        ],
    ),
    table("blob", 1, &[("id", N), ("hash", B), ("bytes", B)]),
    table(
        "bot",
        2,
        &[
            ("entrant", N),
            ("version", N),
            ("hash", T),
            ("spec", T),
            ("git_commit", T),
            ("archive", N),
            ("from_phase", N),
            ("submitted", N),
        ],
    ),
    table(
        "match",
        1,
        &[
            ("id", N),
            ("phase", N),
            ("stage", N),
            ("number", N),
            ("finished", N),
            ("entrants", T),
            ("faults", N),
            ("digest", B),
            ("points", B),
            ("worker", T),
        ],
    ),
    table(
        "game",
        2,
        &[
            ("match", N),
            ("game", N),
            ("part", N),
            ("seed", N),
            ("turns", N),
            ("ended", T),
            ("lost_by", N),
            ("digest", B),
            ("seats", B),
        ],
    ),
    table("record", 2, &[("match", N), ("game", N), ("bytes", B)]),
    table(
        "fault",
        1,
        &[
            ("id", N),
            ("match", N),
            ("game", N),
            ("turn", N),
            ("seat", N),
            ("entrant", N),
            ("kind", T),
            ("says", T),
            ("stderr", T),
        ],
    ),
    table("data", 4, &[("entrant", N), ("phase", N), ("stage", N), ("number", N), ("blob", N)]),
    table("log", 3, &[("match", N), ("game", N), ("seat", N), ("bytes", B)]),
    table(
        "ruling",
        1,
        &[
            ("id", N),
            ("kind", T),
            ("match", N),
            ("entrant", N),
            ("reason", T),
            ("who", T),
            ("at", N),
            ("last_match", N),
            ("lifted", N),
            ("lifted_by", T),
            ("lifted_for", T),
            ("lifted_last_match", N),
        ],
    ),
    table("barred", 1, &[("worker", T), ("why", T), ("at", N)]),
    table(
        "withdrawn",
        1,
        &[
            ("match", N),
            ("phase", N),
            ("stage", N),
            ("number", N),
            ("worker", T),
            ("digest", B),
            ("why", T),
            ("at", N),
        ],
    ),
];

/// Where a phase's state stands: it is filled while it runs, and is what it was afterwards.
pub const STATE: usize = 1;
/// Where a competition's commitment stands.
pub const COMMITMENT: usize = 5;
