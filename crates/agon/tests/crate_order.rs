//! The direction of dependencies: each crate of the workspace uses only crates to its left, and the cluster builds without Node.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// All crates, from left to right.
const ORDER: [&str; 18] = [
    "agon-test-servers",
    "agon-core",
    "agon-files",
    "agon-games",
    "agon-host",
    "agon-engine",
    "agon-league",
    "agon-store",
    "agon-runner",
    "agon-bots",
    "agon-competition",
    "agon-grid",
    "agon-pictures",
    // Needs the built web app, and so Node.
    "agon-web",
    "agon-report",
    "agon-site-db",
    "agon-server",
    "agon",
];

fn crates_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn position(name: &str) -> usize {
    ORDER.iter().position(|one| *one == name).unwrap_or_else(|| panic!("{name} is not in ORDER"))
}

/// Crates of the workspace that a manifest names in these sections.
fn dependencies(manifest: &str, sections: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut wanted = false;
    for line in manifest.lines() {
        if line.starts_with('[') {
            wanted = sections.contains(&line);
        } else if wanted && line.starts_with("agon-") {
            found.push(line.split(['.', ' ', '=']).next().unwrap_or_default().to_owned());
        }
    }
    found
}

fn manifest(name: &str) -> String {
    fs::read_to_string(crates_dir().join(name).join("Cargo.toml")).unwrap()
}

#[test]
fn order_lists_every_crate_of_the_workspace() {
    let folders = fs::read_dir(crates_dir()).unwrap().map(|entry| entry.unwrap());
    let with_manifest = folders.filter(|entry| entry.path().join("Cargo.toml").is_file());
    let found: BTreeSet<String> =
        with_manifest.map(|entry| entry.file_name().into_string().unwrap()).collect();
    assert_eq!(found, ORDER.iter().map(|name| (*name).to_owned()).collect());
}

#[test]
fn each_crate_depends_only_on_crates_to_its_left() {
    for name in ORDER {
        for used in dependencies(&manifest(name), &["[dependencies]", "[build-dependencies]"]) {
            assert!(position(&used) < position(name), "{name} must not depend on {used}");
        }
    }
}

/// Tests may use crates to the right, but not such that need Node.
#[test]
fn crates_up_to_the_grid_build_without_the_web_app() {
    for name in &ORDER[..=position("agon-grid")] {
        for used in dependencies(&manifest(name), &["[dependencies]", "[dev-dependencies]"]) {
            assert!(position(&used) <= position("agon-grid"), "{name} must not depend on {used}");
        }
    }
}
