//! `agon init GAME FILE`: writes a game's competition file.

use std::fs;

use agon_bots::Diagnostic;
use agon_core::text_format::shell_quote_path;
use agon_league::config::CompetitionConfig;
use agon_league::presets::preset;
use serde_json::json;

use crate::args::Init;
use crate::output;
use crate::output_file::OutputFile;

/// Writes the file, and prints the next steps.
pub fn run(args: &Init) -> Result<(), Diagnostic> {
    let info = agon_engine::any_game(&args.game)?.info();
    let Some(text) = preset(info.id) else {
        let hint = "write one yourself; docs/competition-file.md explains the format";
        return Err(Diagnostic::wrong_use(format!("{} has no competition file", info.title), hint));
    };
    let shown = args.file.display().to_string();
    if fs::symlink_metadata(&args.file).is_ok() {
        let what = format!("{shown} already exists; nothing was written");
        return Err(Diagnostic::wrong_use(what, "name another file, or remove it first"));
    }
    let file = shell_quote_path(&shown);
    OutputFile::write(&args.file, "the competition", text.replace("FILE", &file).as_bytes())?;
    let pauses = CompetitionConfig::read(text)
        .is_ok_and(|competition| competition.phases.iter().any(|phase| phase.resubmit));
    let mut next = vec![
        (format!("agon run {file}"), "play it; stop it at any time and run it again to resume"),
        (format!("agon table {file}"), "print the current table"),
        (format!("agon report {file} DIR"), "write web pages"),
    ];
    if pauses {
        next[0].1 = "play the first phase; run it again for the next one, after bots were resubmitted";
        next.insert(1, (format!("agon run {file} --run-through"), "play all phases without a break"));
    }
    if args.json {
        let commands: Vec<&String> = next.iter().map(|(command, _)| command).collect();
        return output::print_json("init", json!({"game": info.id, "file": shown, "next": commands}));
    }
    let mut text =
        format!("{shown}: {} as described in the game's document, with the house bots\n\n", info.title);
    text += "Add your entrants with an editor. Next steps:\n\n";
    let width = next.iter().map(|(command, _)| command.len()).max().unwrap_or_default();
    for (command, does) in &next {
        text += &format!("  {command:width$}   {does}\n");
    }
    output::print(&text)
}
