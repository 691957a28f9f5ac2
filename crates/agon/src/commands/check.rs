//! `agon check GAME BOT`: checks whether a bot would be accepted.

use agon_bots::Diagnostic;
use agon_bots::check::{CheckRequest, check};

use crate::args::Check;
use crate::{output, setup};

/// Checks a bot.
pub fn run(args: &Check) -> Result<(), Diagnostic> {
    let order = CheckRequest {
        game: &args.game,
        bot: &args.bot,
        settings: &args.setup.settings,
        seed: args.setup.seed.as_deref(),
        sandbox: args.sandbox,
        folder: setup::current_dir(),
        keep_record: false,
        deadline: None,
        forbidden_libraries: &args.forbidden,
    };
    let checked = check(&order, &mut output::note)?;
    if args.json {
        output::print(&format!("{:#}\n", checked.json()))?;
    } else {
        output::print(&checked.text())?;
    }
    // The result is already on stdout.
    if checked.accepted { Ok(()) } else { Err(Diagnostic::already_shown()) }
}
