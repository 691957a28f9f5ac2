//! Tables of an archive, in an order in which they can be filled. Every change of them needs a new format version.

/// Type of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColumnKind {
    /// Integer.
    Number,
    /// Text.
    Text,
    /// Bytes.
    Bytes,
}

/// Value of a column in a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cell {
    /// NULL.
    Empty,
    /// Integer.
    Number(i64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// Description of a table.
#[derive(Debug)]
pub struct TableSchema {
    /// Name of the table.
    pub name: &'static str,
    /// Names and types of the columns.
    pub columns: &'static [(&'static str, ColumnKind)],
    /// Number of leading columns that form the key. Rows are sorted by it.
    pub key: usize,
}

impl TableSchema {
    /// Column names, as an SQL list.
    pub fn column_list(&self) -> String {
        self.columns.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    }
}

use ColumnKind::{Bytes as B, Number as N, Text as T};

const fn table(
    name: &'static str,
    key: usize,
    columns: &'static [(&'static str, ColumnKind)],
) -> TableSchema {
    TableSchema { name, columns, key }
}

/// All tables. Snapshots and the total size of bot output are not included, because they can be computed.
pub static TABLES: [TableSchema; 16] = [
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
    table("bot_description", 2, &[("entrant", N), ("version", N), ("name", T), ("contributor", T)]),
];

/// Index of the state column in `phase`. During an import the state is `running`; the archived state is set at the end.
pub const PHASE_STATE_COLUMN: usize = 1;
/// Index of the commitment column in `competition`.
pub const COMMITMENT_COLUMN: usize = 5;
/// Indices of the columns of the key in `match`: phase, stage, number.
pub const MATCH_KEY_COLUMNS: [usize; 3] = [1, 2, 3];
/// Index of the digest column in `match`.
pub const MATCH_DIGEST_COLUMN: usize = 7;
