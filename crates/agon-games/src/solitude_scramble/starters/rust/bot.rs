//! starter-bot: predicts the others from their earlier moves, and goes where it is most likely to be alone.
//!
//! A new process plays each turn, so nothing is kept. The observation contains everything.

mod agon;

use agon::{Answer, Bot, Json, Random};

const MOVES: [&str; 3] = ["LEFT", "RIGHT", "CENTER"];

struct MyBot;

impl Bot for MyBot {
    fn turn(&mut self, seen: &Json, _random: &mut Random) -> Answer {
        let side = seen.get("sides").at(seen.get("seat").whole() as usize).text();
        // Your idea goes here: how valuable is a move? Which strategy does each of the others use?
        let mut best = MOVES[0];
        for moving in MOVES {
            if worth(platform_of(side, moving), seen) > worth(platform_of(side, best), seen) {
                best = moving;
            }
        }
        best.into()
    }
}

/// The platform's points, times the probability to be alone on it.
fn worth(platform: &str, seen: &Json) -> f64 {
    let mut chance = 1.0;
    for seat in 0..seen.get("sides").list().len() {
        if seat != seen.get("seat").whole() as usize {
            chance *= 1.0 - chance_of(seat, platform, seen);
        }
    }
    seen.get("platform_scores").get(platform).whole() as f64 * chance
}

/// Probability that the bot at a seat goes to this platform, estimated from its moves so far.
fn chance_of(seat: usize, platform: &str, seen: &Json) -> f64 {
    let side = seen.get("sides").at(seat).text();
    let history = seen.get("history").list();
    let (mut there, mut all) = (0, 0);
    for moving in MOVES {
        // Start each count at 1, so that no move has probability 0.
        let count = 1 + history.iter().filter(|turn| turn.get("moves").at(seat).text() == moving).count();
        all += count;
        if platform_of(side, moving) == platform {
            there += count;
        }
    }
    there as f64 / all as f64
}

/// Target of each move, by the side on which a bot stands in this turn.
fn platform_of(side: &str, moving: &str) -> &'static str {
    match (side, moving) {
        (_, "CENTER") => "CENTER",
        ("NORTH", "LEFT") | ("EAST", "RIGHT") => "NE",
        ("EAST", "LEFT") | ("SOUTH", "RIGHT") => "SE",
        ("SOUTH", "LEFT") | ("WEST", "RIGHT") => "SW",
        _ => "NW",
    }
}

fn main() {
    agon::run(&mut MyBot);
}
