//! starter-bot: moves to the nearest tile that its number can paint.

mod agon;

use agon::{Answer, Bot, Json, Random};

struct MyBot;

impl Bot for MyBot {
    fn turn(&mut self, seen: &Json, _random: &mut Random) -> Answer {
        let mine = seen.get("id").whole();
        let (my_x, my_y) = (seen.get("position").at(0).whole(), seen.get("position").at(1).whole());
        // Your idea goes here: which tile is the best target? Which bots are near it, and which can paint over it?
        let mut nearest = i64::MAX;
        let mut answer = "STAY";
        for (y, row) in (0..).zip(seen.get("grid").list()) {
            for (x, floor) in (0..).zip(row.list()) {
                let (dx, dy): (i64, i64) = (x - my_x, y - my_y);
                let distance = dx.abs() + dy.abs();
                // My current tile is already painted.
                if distance > 0 && distance < nearest && is_paintable(mine, floor.whole()) {
                    nearest = distance;
                    answer = step(mine, dx, dy);
                }
            }
        }
        answer.into()
    }
}

/// Whether a tile becomes mine when I step on it.
fn is_paintable(mine: i64, floor: i64) -> bool {
    floor == 0 || (floor != mine && (mine - floor).rem_euclid(3) == 2)
}

/// The first step towards a target. Even numbers move along x first, odd numbers along y, so that two bots with
/// the same strategy separate.
fn step(mine: i64, dx: i64, dy: i64) -> &'static str {
    if dx != 0 && (dy == 0 || mine % 2 == 0) {
        if dx > 0 { "RIGHT" } else { "LEFT" }
    } else if dy > 0 {
        "UP"
    } else {
        "DOWN"
    }
}

fn main() {
    agon::run(&mut MyBot);
}
