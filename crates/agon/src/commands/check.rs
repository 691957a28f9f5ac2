//! `agon check GAME BOT`: checks whether a bot would be accepted.

use agon_bots::Diagnostic;
use agon_bots::check::{CheckRequest, DebugLines, check};
use agon_core::text_format::plural;
use agon_engine::turn_log::MakeTurnLog;

use crate::args::Check;
use crate::logs::Logs;
use crate::output_file::OutputFile;
use crate::{output, setup};

/// Checks a bot.
pub fn run(args: &Check) -> Result<(), Diagnostic> {
    let info = agon_engine::any_game(&args.game)?.info();
    // Opened first, so that a path that cannot be written is reported before any game.
    let record = args.record.as_deref().map(|path| {
        if !args.force && path.symlink_metadata().is_ok() {
            let what = format!("{} already exists; nothing was written", path.display());
            return Err(Diagnostic::wrong_use(what, "name another file, or add --force"));
        }
        OutputFile::create(path, "the record")
    });
    let record = record.transpose()?;
    let logs = args.logs.as_deref().map(|folder| Logs::of_programs(folder, info)).transpose()?;
    let make_log = logs.as_ref().map(|logs| |first| logs.log(first));
    let order = CheckRequest {
        game: &args.game,
        bot: &args.bot,
        settings: &args.setup.settings,
        seed: args.setup.seed.as_deref(),
        sandbox: args.sandbox,
        folder: setup::current_dir(),
        seats: args.seats,
        keep_record: record.is_some(),
        keep_output: false,
        deadline: None,
        forbidden_libraries: &args.forbidden,
        make_log: make_log.as_ref().map(|make| make as &MakeTurnLog<'_>),
        debug: DebugLines::On { record: args.record.as_deref() },
    };
    let checked = check(&order, &mut output::note)?;
    if let Some(mut file) = record {
        checked.records.iter().try_for_each(|bytes| file.add(bytes))?;
        file.finish()?;
    }
    if args.json {
        output::print(&format!("{:#}\n", checked.json()))?;
    } else {
        output::print(&checked.text())?;
    }
    if checked.printed_lines > 0 && args.logs.is_none() {
        let lines = plural(checked.printed_lines, "line", "lines");
        output::note(&format!(
            "note: what the bot prints is not shown ({lines}); --logs DIR writes it to files"
        ));
    }
    // The result is already on stdout.
    if checked.accepted { Ok(()) } else { Err(Diagnostic::already_shown()) }
}
