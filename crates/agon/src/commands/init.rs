//! `agon init GAME FILE`: a game's own competition as a file.

use std::fs;

use agon_bots::Failure;
use agon_bots::manifest::quoted;
use agon_league::config::preset;
use serde_json::json;

use crate::atomic_file::AtomicFile;
use crate::cli::Init;
use crate::output;

/// Writes it, and says what comes next.
pub fn run(args: &Init) -> Result<(), Failure> {
    let info = agon_engine::any_game(&args.game)?.info();
    let Some(text) = preset(info.id) else {
        let hint = "docs/competition-file.md says how to write one";
        return Err(Failure::wrong_use(format!("{} has no competition of its own", info.title), hint));
    };
    let shown = args.file.display().to_string();
    if fs::symlink_metadata(&args.file).is_ok() {
        let what = format!("{shown} is there already; nothing was written");
        return Err(Failure::wrong_use(what, "name another file, or remove it first"));
    }
    let file = quoted(&shown);
    AtomicFile::write(&args.file, "the competition", text.replace("FILE", &file).as_bytes())?;
    let next = [
        (format!("agon run {file}"), "play it; stop it at any time, and run it again to go on"),
        (format!("agon table {file}"), "the table so far"),
        (format!("agon report {file} DIR"), "pages to publish"),
    ];
    if args.json {
        let commands: Vec<&String> = next.iter().map(|(command, _)| command).collect();
        return output::print_json("init", json!({"game": info.id, "file": shown, "next": commands}));
    }
    let mut told = format!("{shown}: {} as its document describes it, with the house bots\n\n", info.title);
    told += "Put your entrants in with an editor; then:\n\n";
    let width = next.iter().map(|(command, _)| command.len()).max().unwrap_or_default();
    for (command, does) in &next {
        told += &format!("  {command:width$}   {does}\n");
    }
    output::print(&told)
}
