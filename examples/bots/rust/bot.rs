//! A bot for all five games: a random legal answer. The seed from the engine decides.
//!
//! Build it with `rustc --edition 2021 -O bot.rs`.

mod agon;

use agon::{Answer, Bot, Json, Random};

#[derive(Default)]
struct AnyBot {
    game: String,
}

impl Bot for AnyBot {
    fn hello(&mut self, message: &Json) {
        self.game = message.get("game").text().to_owned();
    }

    fn turn(&mut self, seen: &Json, random: &mut Random) -> Answer {
        match self.game.as_str() {
            "solitude-scramble" => random.choice(&["LEFT", "RIGHT", "CENTER"]).into(),
            "colour-battle" => random.choice(&["UP", "DOWN", "LEFT", "RIGHT"]).into(),
            "connect-five" => {
                let top_row = &seen.get("board").grid()[0];
                let columns: Vec<usize> = (0..top_row.len()).filter(|&column| top_row[column] == 0).collect();
                random.choice(&columns).into()
            }
            "hide-and-seek" => hide_and_seek(seen, random).into(),
            _ => word_racer(seen, random),
        }
    }
}

fn hide_and_seek(seen: &Json, random: &mut Random) -> &'static str {
    let map = seen.get("game_map").grid();
    let is_empty = |x: i64, y: i64| {
        let column = usize::try_from(x).ok().and_then(|x| map.get(x));
        let cell = column.and_then(|column| usize::try_from(y).ok().and_then(|y| column.get(y)));
        cell == Some(&0)
    };
    let (x, y) = (seen.get("pos").at(0).whole(), seen.get("pos").at(1).whole());
    let steps = [("LEFT", x - 1, y), ("RIGHT", x + 1, y), ("UP", x, y - 1), ("DOWN", x, y + 1)];
    let legal: Vec<&str> = steps.iter().filter(|(_, x, y)| is_empty(*x, *y)).map(|(word, ..)| *word).collect();
    if legal.is_empty() { "STAY" } else { random.choice(&legal) }
}

fn word_racer(seen: &Json, random: &mut Random) -> Answer {
    let free: Vec<usize> = seen.get("board").text().match_indices('.').map(|(position, _)| position).collect();
    let position = random.choice(&free);
    match seen.get("letter") {
        Json::Null => format!("{} {position}", char::from(random.choice(b"ETAOINSHRDLU"))).into(),
        _ => position.into(),
    }
}

fn main() {
    agon::run(&mut AnyBot::default());
}
