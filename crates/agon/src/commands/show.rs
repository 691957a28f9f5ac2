//! `agon show GAME`: shows the starting position.

use agon_bots::Diagnostic;
use serde_json::json;

use crate::args::Show;
use crate::{output, setup};

/// Shows the starting position.
pub fn run(args: &Show) -> Result<(), Diagnostic> {
    let table = agon_engine::any_game(&args.game)?;
    let info = table.info();
    let seed = setup::seed(args.setup.seed.as_deref().or(Some("0")))?;
    let (settings, assets) = setup::settings(info, &args.setup.settings)?;
    let seats = args.seats.unwrap_or(info.seats.min);
    if !info.seats.allows(seats) {
        let what = format!("--seats: {} needs {} seats, not {seats}", info.id, info.seats.describe());
        return Err(Diagnostic::wrong_use(what, format!("--seats {}", info.seats.min)));
    }
    let shown = table.start_position(&settings, seats, seed, &assets)?;
    if args.json {
        let content = json!({
            "game": info.id, "seed": seed.to_string(), "seats": seats, "settings": settings, "frame": shown.frame,
        });
        return output::print_json("show", content);
    }
    output::print(&shown.text)
}
