//! `agon bots GAME`: lists the house bots, weakest first.

use agon_bots::Diagnostic;
use serde_json::json;

use crate::args::Bots;
use crate::output;

/// Lists the house bots.
pub fn run(args: &Bots) -> Result<(), Diagnostic> {
    let table = agon_engine::any_game(&args.game)?;
    let bots = table.house_bots();
    if args.json {
        return output::print_json("bots", json!({"game": args.game, "bots": bots}));
    }
    let roles = table.info().roles.len() > 1;
    let rows = bots.iter().map(|bot| {
        let mut row = vec![format!("house:{}", bot.name)];
        row.extend(roles.then(|| bot.roles.join(", ")));
        row.push(bot.strategy.to_owned());
        row
    });
    let titles: &[&str] = if roles { &["Bot", "Role", "Strategy"] } else { &["Bot", "Strategy"] };
    output::print(&output::table(titles, rows.collect()))
}
