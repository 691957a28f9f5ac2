//! `agon check GAME BOT`: checks whether a bot would be accepted.

use std::path::Path;

use agon_bots::check::{CheckRequest, DebugLines, check};
use agon_bots::prepare::PrepareError;
use agon_bots::{BotSource, Diagnostic};
use agon_core::text_format::plural;
use agon_engine::turn_log::MakeTurnLog;

use crate::args::Check;
use crate::logs::Logs;
use crate::output_file::OutputFile;
use crate::{output, setup};

/// Checks a bot.
pub fn run(args: &Check) -> Result<(), Diagnostic> {
    let info = agon_engine::any_game(&args.game)?.info();
    check_named(&args.bot)?;
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
        max_zip_mib: args.max_zip_mib,
        make_log: make_log.as_ref().map(|make| make as &MakeTurnLog<'_>),
        debug: DebugLines::On { record: args.record.as_deref(), python: args.python.options() },
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

/// Rejects a text that names no bot, such as a file that does not exist. A file that is there but is no bot is a result of the check.
fn check_named(bot: &str) -> Result<(), Diagnostic> {
    match BotSource::parse(bot, setup::current_dir()) {
        Ok(BotSource::PlayersYml { list, .. }) if !list.exists() => {
            let what = format!("{bot}: the file does not exist");
            Err(Diagnostic::wrong_use(what, "write the path relative to the current folder"))
        }
        Err(PrepareError::Refused { .. }) if Path::new(bot).exists() => Ok(()),
        Err(error) => Err(error.into()),
        Ok(_) => Ok(()),
    }
}
