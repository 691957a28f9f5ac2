//! `agon games [GAME]`: lists the games, or describes one.

use agon_bots::Diagnostic;
use agon_core::settings::SettingDefault as Fallback;
use agon_core::{Fault, GameInfo};
use agon_host::bot_limits::bot_limits;
use serde_json::{Value as Json, json};

use crate::args::Games;
use crate::output;

/// Lists the games, or describes one.
pub fn run(args: &Games) -> Result<(), Diagnostic> {
    match &args.game {
        Some(id) => {
            let info = agon_engine::any_game(id)?.info();
            if args.json {
                output::print_json("game", with_limits(info))
            } else {
                output::print(&describe(info))
            }
        }
        None if args.json => output::print_json("games", json!({"games": agon_games::infos()})),
        None => {
            let rows = agon_games::infos().into_iter().map(|info| {
                vec![
                    info.id.to_owned(),
                    info.seats.describe(),
                    info.clock.to_owned(),
                    info.summary.to_owned(),
                ]
            });
            output::print(&output::table(&["Game", "Seats", "Clock", "Description"], rows.collect()))
        }
    }
}

/// The description of a game, and the limits of its bots.
fn with_limits(info: &GameInfo) -> Json {
    let mut game = json!(info);
    game["limits"] = json!(bot_limits(info));
    game
}

fn describe(info: &GameInfo) -> String {
    let roles: Vec<&str> = info.roles.iter().map(|role| role.name).collect();
    let mut text = format!(
        "{} ({}), rules version {}\n{}\n\nSeats: {} ({})\nClock: {}\nScore: {}{}\n",
        info.title,
        info.id,
        info.rules_version,
        info.summary,
        info.seats.describe(),
        roles.join(", "),
        info.clock,
        info.score.name,
        if info.score.unit.is_empty() { String::new() } else { format!(" in {}", info.score.unit) },
    );
    text.push_str("\nRequests to a bot\n");
    for request in info.requests {
        text.push_str(&format!("  {}: {} (such as {})\n", request.name, request.asks, request.example));
    }
    text.push_str("\nPenalty of a fault\n");
    for fault in Fault::ALL {
        text.push_str(&format!("  {}: {}\n", fault, info.penalty(fault).describe()));
    }
    text.push_str("\nLimits of a bot that runs as a process\n");
    for limit in bot_limits(info) {
        text.push_str(&format!("  {}: {} ({})\n", limit.name, limit.limit, limit.then));
    }
    let rows = info.settings.iter().map(|spec| {
        let fallback = match spec.default {
            Fallback::Drawn(how) => how.to_owned(),
            Fallback::Int(n) => n.to_string(),
            Fallback::Real(x) => x.to_string(),
            Fallback::Word(word) => word.to_owned(),
        };
        vec![spec.name.to_owned(), fallback, spec.kind.to_string(), spec.help.to_owned()]
    });
    text.push('\n');
    text + &output::table(&["Setting", "Default", "Values", "Description"], rows.collect())
}
