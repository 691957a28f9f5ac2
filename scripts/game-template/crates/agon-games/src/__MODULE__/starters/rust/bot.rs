//! starter-bot: FILL IN: how it plays.

mod agon;

use agon::{Answer, Bot, Json, Random};

struct MyBot;

impl Bot for MyBot {
    fn turn(&mut self, _seen: &Json, _random: &mut Random) -> Answer {
        // Your idea goes here: FILL IN: what to think about.
        "1".into()
    }
}

fn main() {
    agon::run(&mut MyBot);
}
