//! Repositories as bots: every version is kept, nothing of them is run, and large ones are rejected.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use agon_bots::source::git::{Repository, RepositoryLimits};
use tempfile::TempDir;

/// A folder with a repository `bot` in it.
fn place() -> TempDir {
    let place = tempfile::tempdir().unwrap();
    git(place.path(), &["init", "--quiet", "--initial-branch=main", "bot"]);
    place
}

fn git(folder: &Path, words: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgSign=false"]);
    command
        .args(words)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    let output = command.output().unwrap();
    assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn commit(place: &TempDir, files: &[(&str, &str)], subject: &str) -> String {
    let bot = place.path().join("bot");
    for (name, text) in files {
        fs::create_dir_all(bot.join(name).parent().unwrap()).unwrap();
        fs::write(bot.join(name), text).unwrap();
    }
    git(&bot, &["add", "--all"]);
    git(&bot, &["commit", "--quiet", "--allow-empty", "-m", subject]);
    git(&bot, &["rev-parse", "HEAD"])
}

fn repository(place: &TempDir) -> Repository {
    Repository::new(place.path(), "A bot: the best", "bot", None)
}

#[test]
fn update_fetches_the_newest_commit_and_keeps_old_ones() {
    let place = place();
    let first = commit(&place, &[("bot.py", "x = 1\n"), ("old.py", "")], "first");
    let repository = repository(&place);
    assert!(repository.checkout().unwrap_err().hint.contains("agon update"));
    let updated = repository.update().unwrap();
    assert_eq!((updated.old, &updated.new, updated.commits), (None, &first, 1));
    fs::remove_file(place.path().join("bot/old.py")).unwrap();
    commit(&place, &[("bot.py", "x = 2\n")], "second");
    let third = commit(&place, &[("deep/help er.py", "")], "third\u{1b}[31m");
    let updated = repository.update().unwrap();
    assert_eq!((updated.old.as_ref(), &updated.new), (Some(&first), &third));
    assert_eq!((updated.commits, updated.files, updated.rewritten), (2, 3, false));
    assert_eq!(updated.subjects[0].1, "third\\u{1b}[31m", "no terminal control characters");
    let paths: Vec<(&str, &str)> = updated.paths.iter().map(|(how, path)| (*how, path.as_str())).collect();
    assert_eq!(paths, [("changed", "bot.py"), ("added", "deep/help er.py"), ("removed", "old.py")]);
    let now = repository.checkout().unwrap();
    assert_eq!((&now.commit, now.folder.file_name().unwrap().to_str()), (&third, Some("bot")));
    assert_eq!(fs::read_to_string(now.bot(Some("bot.py"))).unwrap(), "x = 2\n");
    let before = repository.checkout_of(&first).unwrap();
    assert_eq!(fs::read_to_string(before.folder.join("bot.py")).unwrap(), "x = 1\n");
    assert!(before.folder.join("old.py").exists() && !before.folder.join("index").exists());
    assert_eq!(repository.update().unwrap().commits, 0);
}

#[test]
fn rewritten_branch_is_reported_and_earlier_commits_can_be_restored() {
    let place = place();
    commit(&place, &[("bot.py", "x = 0\n")], "zero");
    let first = commit(&place, &[("bot.py", "x = 1\n")], "first");
    let repository = repository(&place);
    let laid_out = repository.update().unwrap().folder;
    git(&place.path().join("bot"), &["reset", "--quiet", "--hard", "HEAD~1"]);
    commit(&place, &[("bot.py", "x = 9\n")], "another");
    assert!(repository.update().unwrap().rewritten);
    fs::remove_dir_all(laid_out.parent().unwrap()).unwrap();
    let again = repository.checkout_of(&first).unwrap();
    assert_eq!(fs::read_to_string(again.folder.join("bot.py")).unwrap(), "x = 1\n");
    assert!(repository.checkout_of("../../etc").is_err());
    assert!(repository.checkout_of(&"0".repeat(40)).is_err());
}

#[test]
fn repository_runs_no_code_and_links_do_not_lead_out() {
    let place = place();
    let bot = place.path().join("bot");
    let proof = place.path().join("ran");
    let script = format!("#!/bin/sh\ntouch '{}'\n", proof.display());
    for hook in ["post-checkout", "post-index-change", "reference-transaction", "fsmonitor-watchman"] {
        let path = bot.join(".git/hooks").join(hook);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &script).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&path, mode).unwrap();
    }
    std::os::unix::fs::symlink("/etc/passwd", bot.join("link")).unwrap();
    // Git runs hooks when the repository itself is changed, which this test does not cover.
    let files = [(".gitattributes", "* filter=evil\n"), ("bot.py", "x = 1\n"), (".gitmodules", "")];
    commit(&place, &files, "first");
    let _ = fs::remove_file(&proof);
    git(&bot, &["config", "filter.evil.smudge", &script]);
    git(&bot, &["config", "uploadpack.packObjectsHook", &script]);
    git(&bot, &["update-index", "--add", "--cacheinfo", &format!("160000,{},other", "1".repeat(40))]);
    git(&bot, &["commit", "--quiet", "-m", "a submodule"]);
    let _ = fs::remove_file(&proof);
    let updated = repository(&place).update().unwrap();
    assert!(!proof.exists());
    assert_eq!(updated.left_out, ["other"]);
    let link = updated.folder.join("link");
    assert!(!link.is_symlink());
    assert_eq!(fs::read_to_string(link).unwrap(), "/etc/passwd");
}

#[test]
fn repository_too_large_or_too_slow_is_rejected_and_removed() {
    let place = place();
    commit(&place, &[("a.py", "x"), ("b.py", "x"), ("c.py", "some text")], "three files");
    let with = |limits: RepositoryLimits| {
        let mut repository = Repository::new(place.path(), "Large", "bot", None);
        repository.limits = limits;
        repository.update().map(|updated| updated.new).unwrap_err().to_string()
    };
    let all = RepositoryLimits::default();
    let told = with(RepositoryLimits { files: 2, ..all });
    assert!(told.starts_with("the commit holds 3 files"), "{told}");
    assert!(told.contains("hint: at most 2 files of 100 MiB"), "{told}");
    assert!(with(RepositoryLimits { files_bytes: 10, ..all }).starts_with("the commit holds"));
    assert!(with(RepositoryLimits { fetched_bytes: 10, ..all }).starts_with("the repository is too large"));
    let late = with(RepositoryLimits { time: Duration::ZERO, ..all });
    assert!(late.starts_with("git did not finish within 0 s"), "{late}");
    let kept = place.path().join(".agon/git");
    let checkouts = fs::read_dir(kept).unwrap().flatten().any(|entry| entry.path().join("commits").exists());
    assert!(!checkouts);
}

#[test]
fn failed_fetch_is_reported_with_a_hint() {
    let place = place();
    commit(&place, &[("bot.py", "")], "first");
    let told = |address: &str, branch: Option<&str>| {
        Repository::new(place.path(), "Bot", address, branch).update().unwrap_err().to_string()
    };
    assert!(
        told("nowhere", None).contains("does not appear to be a git repository\nhint: check the address")
    );
    assert!(told("bot", Some("melting")).starts_with("it has no branch melting\nhint: "));
    // Only https, ssh and files are allowed: a helper that runs commands is not even started.
    let proof = place.path().join("ran");
    let command = format!("ext::sh -c touch% {}", proof.display());
    assert!(told(&command, None).contains("not allowed"), "{}", told(&command, None));
    assert!(!proof.exists());
}
