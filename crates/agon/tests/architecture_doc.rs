//! The documents that map the project stay true: ARCHITECTURE.md names files and functions that exist, ARCHITECTURE.md and README.md stay
//! short, `docs/code-map.md` lists every module, links lead to files, and the indexes list every page and every decision.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::case_sensitive_file_extension_comparisons,
    reason = "a test of our own files"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum size of README.md and ARCHITECTURE.md.
const MAX_PAGE_BYTES: usize = 12 * 1024;
/// Number of flows in ARCHITECTURE.md.
const FLOWS: usize = 4;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A step of a flow: the file, and the functions that the step names in it.
#[derive(Debug, PartialEq)]
struct FlowStep {
    file: String,
    functions: Vec<String>,
}

/// Texts between backticks.
fn code_spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The numbered steps under `## Flows`, with the heading of their flow. A step starts with a file in backticks; `name()` or `Type::name()` is a
/// function in that file.
fn flow_steps(document: &str) -> Vec<(String, FlowStep)> {
    let flows = document.split("\n## Flows\n").nth(1).expect("a section Flows");
    let flows = flows.split("\n## ").next().unwrap_or_default();
    let mut steps = Vec::new();
    for flow in flows.split("\n### ").skip(1) {
        let (heading, list) = flow.split_once('\n').expect("steps below the heading");
        let mut items: Vec<String> = Vec::new();
        for line in list.lines() {
            let is_numbered = line.split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
            match items.last_mut() {
                Some(item) if !is_numbered => *item += line,
                _ if is_numbered => items.push(line.to_owned()),
                _ => {}
            }
        }
        for item in items {
            let mut spans = code_spans(&item);
            let file = spans.next().unwrap_or_default().to_owned();
            let functions = spans.filter_map(|span| span.strip_suffix("()"));
            let functions =
                functions.map(|name| name.rsplit("::").next().unwrap_or(name).to_owned()).collect();
            steps.push((heading.to_owned(), FlowStep { file, functions }));
        }
    }
    steps
}

/// What a step names that does not exist.
fn missing_in_step(step: &FlowStep) -> Vec<String> {
    let FlowStep { file, functions } = step;
    let Ok(source) = fs::read_to_string(root().join(file)) else {
        return vec![format!("the file `{file}`")];
    };
    if functions.is_empty() {
        return vec![format!("a function of `{file}` in the step")];
    }
    let keyword = if file.ends_with(".py") { "def " } else { "fn " };
    let is_defined = |name: &str| {
        source
            .match_indices(&format!("{keyword}{name}"))
            .any(|(at, found)| matches!(source.as_bytes().get(at + found.len()), Some(b'(' | b'<')))
    };
    let missing = functions.iter().filter(|name| !is_defined(name));
    missing.map(|name| format!("the function `{name}` in `{file}`")).collect()
}

#[test]
fn architecture_flows_name_only_existing_files_and_functions() {
    let steps = flow_steps(&read("ARCHITECTURE.md"));
    let flows: BTreeSet<&str> = steps.iter().map(|(flow, _)| flow.as_str()).collect();
    assert_eq!(flows.len(), FLOWS, "ARCHITECTURE.md should have {FLOWS} flows: {flows:?}");
    let missing: Vec<String> = steps
        .iter()
        .flat_map(|(flow, step)| missing_in_step(step).into_iter().map(move |what| format!("{flow}: {what}")))
        .collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md names what does not exist:\n{}", missing.join("\n"));
}

#[test]
fn missing_in_step_names_a_missing_file_and_a_missing_function() {
    let document = "\n## Flows\n\n### A flow\n\n1. `no/such.rs`: `run()` runs.\n2. `crates/agon/src/main.rs`: `main()` calls\n   `Cli::no_such()`.\n\n## End";
    let steps = flow_steps(document);
    let missing: Vec<String> = steps.iter().flat_map(|(_, step)| missing_in_step(step)).collect();
    assert_eq!(missing, ["the file `no/such.rs`", "the function `no_such` in `crates/agon/src/main.rs`"]);
}

/// The crates of the table in ARCHITECTURE.md, from top to bottom.
fn listed_crates(document: &str) -> Vec<String> {
    let section = document.split("\n## Crates\n").nth(1).expect("a section Crates");
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| row.split('`').next()).map(str::to_owned).collect()
}

/// Agon's own crates that a crate uses, without those for its tests.
fn used_crates(name: &str) -> Vec<String> {
    let manifest = read(&format!("crates/{name}/Cargo.toml"));
    let section = manifest.split("\n[dependencies]\n").nth(1).unwrap_or_default();
    let section = section.split("\n[").next().unwrap_or_default();
    let names = section.lines().map(|line| line.split(['.', ' ', '=']).next().unwrap_or_default());
    names.filter(|name| name.starts_with("agon-")).map(str::to_owned).collect()
}

#[test]
fn architecture_lists_every_crate_below_the_crates_it_uses() {
    let listed = listed_crates(&read("ARCHITECTURE.md"));
    let folders = fs::read_dir(root().join("crates")).unwrap();
    let folders: BTreeSet<String> =
        folders.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(
        listed.iter().cloned().collect::<BTreeSet<_>>(),
        folders,
        "crates in the table and in crates/"
    );
    for (at, name) in listed.iter().enumerate() {
        let wrong: Vec<String> =
            used_crates(name).into_iter().filter(|used| !listed[..at].contains(used)).collect();
        assert!(wrong.is_empty(), "{name} uses {}, which the table lists below it", wrong.join(", "));
    }
}

/// Files below a folder with one of these endings, sorted, relative to the folder. Leaves out tests, and the house bots of the games.
fn sources_in(folder: &Path, endings: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(&at).unwrap_or_else(|error| panic!("{}: {error}", at.display())) {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                if !["bots", "tests", "snapshots", "__pycache__"].contains(&name.as_str()) {
                    folders.push(path);
                }
            } else if endings.iter().any(|ending| name.ends_with(ending)) && !name.ends_with("tests.rs") {
                found.push(path.strip_prefix(folder).unwrap().to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    found
}

/// First paragraph of the comment at the top of a source file.
fn top_comment(source: &str) -> String {
    if let Some(rest) = source.strip_prefix("\"\"\"") {
        let text = rest.split("\"\"\"").next().unwrap_or_default();
        return text
            .split("\n\n")
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
    }
    let mark = if source.starts_with("//!") { "//!" } else { "//" };
    let lines = source.lines().map_while(|line| line.strip_prefix(mark)).map(str::trim);
    lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// First sentence of a text, as a table cell.
fn first_sentence(text: &str) -> String {
    let end = text.match_indices(". ").find(|(at, _)| {
        let next = text[at + 2..].chars().next();
        next.is_some_and(|next| next.is_uppercase() || matches!(next, '`' | '['))
    });
    let sentence = end.map_or(text, |(at, _)| &text[..=at]);
    sentence.replace("[`", "`").replace("`]", "`").replace('|', "\\|")
}

/// The content of `docs/code-map.md`: each module with the first sentence of its comment.
fn code_map() -> String {
    let mut text = "# Code map\n\nThe modules of each crate, with the first sentence of their comments. [ARCHITECTURE.md](../ARCHITECTURE.md) explains how \
         they work together. House bots,\nweb components and tests are left out. A test writes this page: \
         `AGON_BLESS=1 cargo test -p agon --test architecture_doc`, or `make golden`.\n"
        .to_owned();
    let mut folders: Vec<String> = fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| format!("crates/{}/src", entry.unwrap().file_name().to_string_lossy()))
        .filter(|folder| root().join(folder).is_dir())
        .collect();
    folders.sort();
    folders.extend(["python/agon_bot".to_owned(), "web/src".to_owned()]);
    for folder in folders {
        let endings: &[&str] = match folder.as_str() {
            "python/agon_bot" => &[".py"],
            "web/src" => &[".ts"],
            _ => &[".rs"],
        };
        text += &format!("\n## `{folder}`\n\n| file | content |\n|---|---|\n");
        for file in sources_in(&root().join(&folder), endings) {
            // What bots import has no part in Agon's own structure.
            if file.starts_with("library/") {
                continue;
            }
            let comment = top_comment(&read(&format!("{folder}/{file}")));
            assert!(
                !comment.is_empty(),
                "{folder}/{file} should start with a comment that says what it is for"
            );
            text += &format!("| `{file}` | {} |\n", first_sentence(&comment));
        }
    }
    text
}

#[test]
fn code_map_lists_every_module() {
    let (path, expected) = (root().join("docs/code-map.md"), code_map());
    if std::env::var_os("AGON_BLESS").is_some() {
        fs::write(&path, expected).unwrap();
        return;
    }
    let text = fs::read_to_string(&path).unwrap_or_default();
    let first = expected.lines().zip(text.lines()).find(|(wanted, found)| wanted != found);
    assert!(
        text == expected,
        "docs/code-map.md is out of date; write it again with AGON_BLESS=1; first difference: {first:?}"
    );
}

#[test]
fn first_sentence_ends_at_the_first_full_stop_before_a_capital() {
    assert_eq!(first_sentence("Plays a game, vs. bots. Then stops."), "Plays a game, vs. bots.");
    assert_eq!(first_sentence("Uses [`Game`] | all"), "Uses `Game` \\| all");
}

#[test]
fn readme_and_architecture_are_short() {
    for page in ["README.md", "ARCHITECTURE.md"] {
        let size = read(page).len();
        assert!(size <= MAX_PAGE_BYTES, "{page} has {size} bytes, more than {MAX_PAGE_BYTES}");
    }
}

/// Files directly in a folder whose names end in `.md`, without `README.md`.
fn pages_in(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| name.ends_with(".md") && name != "README.md");
    names.sort();
    names
}

/// Targets of the Markdown links of a page, without anchors and without links to other sites.
fn link_targets(text: &str) -> Vec<String> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
    let targets = targets.map(|target| target.split('#').next().unwrap_or_default());
    targets.filter(|target| !target.is_empty() && !target.contains("://")).map(str::to_owned).collect()
}

#[test]
fn indexes_link_every_page() {
    for folder in ["docs", "docs/decisions"] {
        let index = link_targets(&read(&format!("{folder}/README.md")));
        let missing: Vec<String> =
            pages_in(folder).into_iter().filter(|page| !index.contains(page)).collect();
        assert!(missing.is_empty(), "{folder}/README.md does not link {}", missing.join(", "));
    }
}

#[test]
fn links_in_the_documents_lead_to_existing_files() {
    let mut pages: Vec<String> =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/bots/README.md"]
            .map(str::to_owned)
            .into();
    for folder in ["docs", "docs/decisions"] {
        pages.push(format!("{folder}/README.md"));
        pages.extend(pages_in(folder).into_iter().map(|page| format!("{folder}/{page}")));
    }
    let mut broken = Vec::new();
    for page in pages {
        let folder = root().join(&page).parent().map(Path::to_owned).unwrap_or_default();
        let targets = link_targets(&read(&page));
        broken.extend(
            targets
                .into_iter()
                .filter(|target| !folder.join(target).exists())
                .map(|target| format!("{page}: {target}")),
        );
    }
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
}

#[test]
fn decisions_have_a_numbered_title_and_three_sections() {
    for page in pages_in("docs/decisions") {
        let text = read(&format!("docs/decisions/{page}"));
        let number = page.split('-').next().unwrap_or_default();
        assert!(text.starts_with(&format!("# {number}: ")), "{page} should start with `# {number}: `");
        let sections: Vec<&str> = text.lines().filter(|line| line.starts_with("## ")).collect();
        assert_eq!(sections, ["## Context", "## Decision", "## Consequence"], "{page}");
    }
}
