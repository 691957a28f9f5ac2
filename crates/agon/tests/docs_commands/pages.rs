//! The code blocks of the pages for operators, and the list of those that cannot run in a test.

use std::fs;
use std::path::{Path, PathBuf};

/// The pages whose `sh` blocks are run.
pub const PAGES: [&str; 4] = ["deploying.md", "ledger.md", "restoring.md", "grid.md"];

/// Blocks that are not run: page, a text that only this block contains, and the reason.
pub const NOT_RUN: [(&str, &str, &str); 5] = [
    (
        "deploying.md",
        "nats-server.service.d/agon.conf",
        "needs systemd as the first process; tests/deploying.rs checks the drop-in",
    ),
    (
        "deploying.md",
        "useradd --system",
        "creates a user of the machine and a service; tests/deploying.rs checks the unit",
    ),
    ("deploying.md", "systemctl enable --now agon-worker@w3", "needs systemd as the first process"),
    ("deploying.md", "systemd-run --user", "needs systemd and a session of a user"),
    ("deploying.md", "systemctl --user enable --now agon-worker", "needs systemd and a session of a user"),
];

/// A block of a page.
#[derive(Debug)]
pub struct Block {
    /// Name of the page.
    pub page: &'static str,
    /// Number of its first line.
    pub line: usize,
    /// `sh` or `sql`.
    pub kind: String,
    /// Its lines.
    pub text: String,
}

impl Block {
    /// Why this block is not run, if it is not.
    pub fn reason_not_to_run(&self) -> Option<&'static str> {
        let listed = |entry: &&(&str, &str, &str)| entry.0 == self.page && self.text.contains(entry.1);
        NOT_RUN.iter().find(listed).map(|entry| entry.2)
    }
}

/// Path of a file of the repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// The `sh` and `sql` blocks of a page, in order.
pub fn blocks(page: &'static str) -> Vec<Block> {
    let text = fs::read_to_string(repository("docs").join(page)).unwrap();
    let mut found = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(kind) = line.trim_start().strip_prefix("```").filter(|kind| !kind.is_empty()) else {
            continue;
        };
        let indent = line.len() - line.trim_start().len();
        let content = lines.by_ref().map(|(_, line)| line).take_while(|line| line.trim() != "```");
        let text =
            content.fold(String::new(), |text, line| text + line.get(indent..).unwrap_or_default() + "\n");
        if ["sh", "sql"].contains(&kind) {
            found.push(Block { page, line: number + 2, kind: kind.to_owned(), text });
        }
    }
    found
}
