//! What is played: bots that think by sleeping, so that a loaded machine changes nothing about their games.

use std::path::Path;

/// The competitions, by the name of their file.
pub const CUPS: [&str; 2] = ["words", "house"];

const LINES: &str = r#"import sys
import time

free = [cell for cell in range(49) if cell != 24]


def line():
    return sys.stdin.readline().strip()


letter, mine = line(), line() == "1"
for turn in range(48):
    time.sleep(0.004)
    if mine:
        print(LETTERS[turn % len(LETTERS)], free.pop(0), flush=True)
    else:
        line()
        print(free.pop(), flush=True)
    mine = not mine
"#;

const WORDS: &str = r#"name = "Words in a storm"
game = "word-racer"
seed = "a storm"

[[phase]]
name = "Round robin"
format = "round-robin"
letters = "AEIORSTN"
swap = true

[[phase]]
name = "Knockout"
format = "knockout"
letters = "AE"
top = 4
pairs = 1
extra = 3
"#;

/// Without programs: the liar is a thread of the test, and has no sandbox to offer.
const HOUSE: &str = r#"name = "House in a storm"
game = "word-racer"
seed = "another storm"

[[phase]]
name = "Round robin"
format = "round-robin"
letters = "AEIORSTN"
swap = true
"#;

/// Writes all of it.
pub fn write(folder: &Path) {
    let put = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let entrant = |name: &str, bot: &str| format!("\n[[entrant]]\nname = \"{name}\"\nbot = \"{bot}\"\n");
    let mut words = WORDS.to_owned();
    for (name, letters) in [("star", "STARIONE"), ("quiz", "QUIZXJ")] {
        put(&format!("{name}/bot.py"), &LINES.replace("LETTERS", &format!("{letters:?}")));
        words += &entrant(name, &format!("python3 {name}/bot.py"));
    }
    for house in ["z-racer", "filler", "rows"] {
        words += &entrant(house, &format!("house:{house}"));
    }
    put("words.toml", &words);
    let mut house = HOUSE.to_owned();
    for name in ["random", "z-racer", "rows", "filler"] {
        house += &entrant(name, &format!("house:{name}"));
    }
    put("house.toml", &house);
}
