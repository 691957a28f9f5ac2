//! `agon update FILE`: updates entrants that are git repositories.

use agon_bots::error::Diagnostic;
use agon_bots::source::git::{FetchResult, Repository};
use agon_competition::file;
use agon_core::text_format::plural;
use agon_host::BotRejection;
use agon_league::config::{EntrantBot, EntrantSpec};
use serde_json::{Value as Json, json};

use crate::args::Update;
use crate::output;

/// Number of digits of a commit id that are shown.
const SHORT_ID_DIGITS: usize = 10;
/// Maximum number of commits and of files shown per entrant.
const MAX_LINES_SHOWN: usize = 10;

/// Updates each repository. A failure does not stop the others.
pub fn run(args: &Update) -> Result<(), Diagnostic> {
    let file = file::load(&args.file)?;
    let mut text = String::new();
    let mut entries: Vec<Json> = Vec::new();
    let (mut failed, mut new) = (0, 0);
    for entrant in &file.competition.entrants {
        let EntrantBot::Git { repository, branch, .. } = &entrant.bot else { continue };
        let repository = Repository::new(&file.folder, &entrant.name, repository, branch.as_deref());
        output::note(&format!("{}: {}", entrant.name, repository.address()));
        let updated = repository.update();
        match &updated {
            Ok(updated) => new += usize::from(updated.old.as_ref() != Some(&updated.new)),
            Err(_) => failed += 1,
        }
        text += &describe(&entrant.name, &updated);
        entries.push(as_json(entrant, &repository, &updated));
    }
    if args.json {
        output::print_json("update", json!({"file": args.file.display().to_string(), "entrants": entries}))?;
    } else if entries.is_empty() {
        output::print("no entrant is a git repository: nothing to update\n")?;
    } else {
        let same = entries.len() - new - failed;
        output::print(&format!("{text}{new} updated, {same} unchanged, {failed} failed\n"))?;
    }
    // Failures are already on stdout.
    if failed == 0 { Ok(()) } else { Err(Diagnostic::already_shown()) }
}

fn short(commit: &str) -> &str {
    commit.get(..SHORT_ID_DIGITS).unwrap_or(commit)
}

fn describe(name: &str, updated: &Result<FetchResult, BotRejection>) -> String {
    let updated = match updated {
        Ok(updated) => updated,
        Err(refusal) => {
            return format!("{name}: failed: {}\n  hint: {}\n", refusal.what, refusal.hint);
        }
    };
    let new = short(&updated.new);
    let mut text = match &updated.old {
        None => format!("{name}: {new}, first version ({})\n", plural(updated.commits, "commit", "commits")),
        Some(old) if *old == updated.new => format!("{name}: {new}, unchanged\n"),
        Some(old) => {
            let changes = format!(
                "{}, {}",
                plural(updated.commits, "commit", "commits"),
                plural(updated.files, "file", "files")
            );
            format!("{name}: {} -> {new} ({changes})\n", short(old))
        }
    };
    if updated.rewritten {
        text += "  note: the branch was rewritten; the previous version is kept\n";
    }
    for path in &updated.left_out {
        text += &format!("  note: {path} is a nested repository and is omitted\n");
    }
    // In the first version every file is new.
    if updated.old.is_some() {
        let more = |all: usize, what: &str| {
            if all > MAX_LINES_SHOWN {
                format!("  ... and {}\n", plural(all - MAX_LINES_SHOWN, what, &format!("{what}s")))
            } else {
                String::new()
            }
        };
        for (id, subject) in updated.subjects.iter().take(MAX_LINES_SHOWN) {
            text += &format!("  {id} {subject}\n");
        }
        text += &more(updated.commits, "commit");
        for (how, path) in updated.paths.iter().take(MAX_LINES_SHOWN) {
            text += &format!("  {how:7} {path}\n");
        }
        text += &more(updated.files, "file");
    }
    text
}

fn as_json(
    entrant: &EntrantSpec,
    repository: &Repository,
    updated: &Result<FetchResult, BotRejection>,
) -> Json {
    let branch = match &entrant.bot {
        EntrantBot::Git { branch, .. } => branch.as_deref(),
        EntrantBot::Spec(_) => None,
    };
    let mut entry = json!({"name": entrant.name, "repository": repository.address(), "branch": branch});
    let more = match updated {
        Ok(updated) => {
            let commits: Vec<Json> = updated
                .subjects
                .iter()
                .map(|(id, subject)| json!({"commit": id, "subject": subject}))
                .collect();
            let files: Vec<Json> =
                updated.paths.iter().map(|(how, path)| json!({"change": how, "path": path})).collect();
            json!({
                "updated": true, "old": updated.old, "new": updated.new, "folder": updated.folder.display().to_string(), "rewritten": updated.rewritten,
                "commits": updated.commits, "newest": commits, "files": updated.files, "changed": files,
                "left_out": updated.left_out,
            })
        }
        Err(refusal) => json!({"updated": false, "error": refusal.what, "hint": refusal.hint}),
    };
    if let (Some(entry), Json::Object(more)) = (entry.as_object_mut(), more) {
        entry.extend(more);
    }
    entry
}
