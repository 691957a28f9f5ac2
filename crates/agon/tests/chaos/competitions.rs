//! The competitions of the test. Their bots think by sleeping, so that a loaded machine does not change their games.

use std::path::Path;

/// A competition, by the name of its file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TestCompetition {
    /// Fast games between house bots. The lying worker takes part here, because it is a thread of the test without a sandbox.
    House,
    /// Connect Five: bots keep data from match to match, so that each match depends on the earlier ones.
    Kept,
    /// Bots in processes: a round robin, then a knockout of the best.
    Words,
}

/// All competitions, in the order in which they are played.
pub const COMPETITIONS: [TestCompetition; 3] =
    [TestCompetition::House, TestCompetition::Kept, TestCompetition::Words];

impl TestCompetition {
    pub const fn name(self) -> &'static str {
        match self {
            Self::House => "house",
            Self::Kept => "kept",
            Self::Words => "words",
        }
    }
}

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
letters = "AEIR"
swap = true

[[phase]]
name = "Knockout"
format = "knockout"
letters = "AE"
top = 4
pairs = 1
extra = 3
"#;

const HOUSE: &str = r#"name = "House in a storm"
game = "word-racer"
seed = "another storm"

[[phase]]
name = "Round robin"
format = "round-robin"
letters = "AEIORSTN"
swap = true
"#;

/// The moves of this bot depend on all data that it has kept and may read.
const KEPT: &str = r#"name = "Kept in a storm"
game = "connect-five"
seed = "a third storm"

[[phase]]
name = "League"
format = "round-robin"
legs = 2
parts = [{ games = 3, first_to = 2, seconds = 5 }]
"#;

const LEARNER: &str = include_str!("../../../../test-bots/competitions/learner/Learner.py");

/// Writes all competition files and bots.
pub fn write(folder: &Path) {
    let put = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let entrant = |name: &str, bot: &str| format!("\n[[entrant]]\nname = \"{name}\"\nbot = \"{bot}\"\n");
    let (mut house, mut kept, mut words) = (HOUSE.to_owned(), KEPT.to_owned(), WORDS.to_owned());
    for (name, letters) in [("star", "STARIONE"), ("quiz", "QUIZXJ")] {
        put(&format!("{name}/bot.py"), &LINES.replace("LETTERS", &format!("{letters:?}")));
        words += &entrant(name, &format!("python3 {name}/bot.py"));
    }
    for name in ["z-racer", "filler", "rows"] {
        words += &entrant(name, &format!("house:{name}"));
    }
    for name in ["random", "z-racer", "rows", "filler"] {
        house += &entrant(name, &format!("house:{name}"));
    }
    for name in ["learner", "pupil"] {
        put(&format!("{name}/Learner.py"), LEARNER);
        kept += &entrant(name, &format!("{name}/Learner.py"));
    }
    for name in ["random", "stacker"] {
        kept += &entrant(name, &format!("house:{name}"));
    }
    for (competition, text) in
        [(TestCompetition::House, house), (TestCompetition::Kept, kept), (TestCompetition::Words, words)]
    {
        put(&format!("{}.toml", competition.name()), &text);
    }
}
