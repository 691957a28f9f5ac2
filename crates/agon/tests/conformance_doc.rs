//! `docs/conformance.md` stays true: every test and command that it names exists, and its counts are right.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test of our own files")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

const PAGE: &str = "docs/conformance.md";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A line of the page.
#[derive(Debug)]
struct Statement {
    number: usize,
    text: String,
    from: String,
    /// Tests as `FILE::FUNCTION`, and commands.
    shown_by: Vec<String>,
    state: String,
}

fn statements(page: &str) -> Vec<Statement> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let cells = rows.map(|row| row.split(" | ").map(str::trim).collect::<Vec<_>>());
    let read = |cells: Vec<&str>| {
        let number = cells.first()?.parse().ok()?;
        let [text, from, shown_by, state] = cells.get(1..)? else {
            panic!("statement {number} of {PAGE} should have five cells: {cells:?}");
        };
        let shown_by = shown_by.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        Some(Statement {
            number,
            text: (*text).into(),
            from: (*from).into(),
            shown_by,
            state: (*state).into(),
        })
    };
    cells.filter_map(read).collect()
}

/// Whether a source defines a test of this name: a function, a test of Python, or a line of the list of hostile bots.
fn defines(file: &str, source: &str, name: &str) -> bool {
    let is_word_end =
        |at: usize| source[at..].chars().next().is_none_or(|next| !(next.is_alphanumeric() || next == '_'));
    let keyword =
        if Path::new(file).extension().is_some_and(|ending| ending == "py") { "def " } else { "fn " };
    let defined = |word: &str| source.match_indices(word).any(|(at, found)| is_word_end(at + found.len()));
    defined(&format!("{keyword}{name}"))
        || (file.ends_with("hostile/manifest.rs") && defined(&format!("        {name}")))
}

/// What a statement names that does not exist.
fn missing(shown_by: &str, commands: &[String]) -> Option<String> {
    if let Some((file, name)) = shown_by.split_once("::") {
        let below = if file.starts_with("python/") { "" } else { "crates/" };
        let Ok(source) = fs::read_to_string(root().join(below).join(file)) else {
            return Some(format!("the file {file}"));
        };
        return (!defines(file, &source, name)).then(|| format!("the test {name} in {file}"));
    }
    let mut words = shown_by.split(' ');
    let known =
        words.next() == Some("agon") && words.next().is_some_and(|name| commands.iter().any(|c| c == name));
    (!known).then(|| format!("the command `{shown_by}`"))
}

/// The commands in the help of the program.
fn commands() -> Vec<String> {
    let help = common::stdout("--help");
    let list = help.split("Commands:\n").nth(1).unwrap_or_default().split("\n\n").next().unwrap_or_default();
    let names = list.lines().filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    names.filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

fn page() -> String {
    fs::read_to_string(root().join(PAGE)).unwrap()
}

#[test]
fn every_test_and_command_of_the_page_exists() {
    let commands = commands();
    let mut wrong = Vec::new();
    for statement in statements(&page()) {
        let lost = statement.shown_by.iter().filter_map(|one| missing(one, &commands));
        wrong.extend(lost.map(|what| format!("{}: {what} does not exist", statement.number)));
    }
    assert!(wrong.is_empty(), "{PAGE}:\n{}", wrong.join("\n"));
}

#[test]
fn every_statement_has_a_number_a_source_and_a_proof_or_says_what_differs() {
    let statements = statements(&page());
    for (at, statement) in statements.iter().enumerate() {
        assert_eq!(
            statement.number,
            at + 1,
            "{PAGE} should number its statements without gaps: {statement:?}"
        );
        assert!(!statement.text.is_empty() && !statement.from.is_empty(), "{statement:?}");
        match statement.state.split_once(": ") {
            Some(("differs" | "missing", what)) => assert!(!what.is_empty(), "{statement:?}"),
            Some(("holds", "no test yet")) => assert!(statement.shown_by.is_empty(), "{statement:?}"),
            _ => {
                assert_eq!(statement.state, "holds", "{statement:?}");
                assert!(!statement.shown_by.is_empty(), "a test or command is missing: {statement:?}");
            }
        }
    }
    let count = |state: &str| statements.iter().filter(|one| one.state.starts_with(state)).count();
    let wanted = format!(
        "{} statements: {} hold, {} differ, {} are missing.",
        statements.len(),
        count("holds"),
        count("differs"),
        count("missing")
    );
    assert!(page().contains(&wanted), "{PAGE} should say: {wanted}");
    assert!(statements.len() >= 195, "{wanted}");
}

#[test]
fn a_test_file_or_command_that_does_not_exist_is_found() {
    let commands = ["play".to_owned()];
    let missing = |what| missing(what, &commands);
    assert_eq!(missing("agon play colour-battle"), None);
    assert_eq!(missing("agon/tests/conformance_doc.rs::missing"), None);
    assert_eq!(missing("agon/tests/hostile/manifest.rs::fork_bomb"), None);
    assert_eq!(missing("agon plai").unwrap(), "the command `agon plai`");
    assert_eq!(missing("agon/no.rs::a").unwrap(), "the file agon/no.rs");
    let part_of_a_name = missing("agon/tests/conformance_doc.rs::miss").unwrap();
    assert_eq!(part_of_a_name, "the test miss in agon/tests/conformance_doc.rs");
}
