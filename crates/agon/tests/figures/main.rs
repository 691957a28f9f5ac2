//! Every official figure of a competition follows from its games. A league of each game is played by the game's own competition file (`agon init`, made
//! small), with house bots and with programs that make faults. `recompute.py` computes scores and tables again from the exported games and the
//! written rules, without code of Agon, and checks how many games each match has.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

#[path = "../common/mod.rs"]
mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::place::Place;
use serde_json::{Value as Json, json};

const SUBMISSION: &str = "def get_action(state, match_history):\n    \
    return \"CENTER\" if state[\"current_turn\"] != 3 else 1 / 0\n";

const PAINTER: &str = "from bot_control import Move\n\n\nclass Painter:\n    \
    def determine_next_move(self, grid, enemies, game_info):\n        \
    return [Move.UP, Move.LEFT, Move.DOWN, 7][game_info.current_round // 4 % 4]\n\n    \
    def get_name(self):\n        return \"Painter\"\n\n    def get_contributor(self):\n        return \"Ada\"\n";

/// Names a column that does not exist in the third game of each match. In a later game it raises an exception if only column 0 has pieces.
const FIVE: &str = "class Fiver:\n    def get_move(self, board, player, T, N):\n        \
    if N == 2:\n            return 9\n        \
    if N > 2 and board[6][0] and not any(board[6][1:]):\n            raise ValueError(\"column 0\")\n        \
    return next(c for c in range(8, -1, -1) if board[0][c] == 0)\n\n    def train(self):\n        pass\n";

/// Walks into walls and out of the map, which the rules turn into standing still.
const SEEKER: &str = "from players import Player\n\n\nclass Seeker(Player):\n    \
    def __init__(self, game_map, spawn_position, enemy_spawn_position):\n        \
    super().__init__(game_map, spawn_position, enemy_spawn_position)\n        self.calls = 0\n\n    \
    def move(self):\n        self.calls += 1\n        \
    step = [(1, 0), (0, 1), (-1, 0), (0, -1)][self.calls // 5 % 4]\n        \
    self.pos = [self.pos[0] + step[0], self.pos[1] + step[1]]\n";

/// Stops answering after the tenth line.
const RACER: &str = "letter, mine = input(), input() == \"1\"\nfree = [p for p in range(49) if p != 24]\n\
    for turn in range(10):\n    \
    if mine:\n        print(\"E\", free.pop(0), flush=True)\n    \
    else:\n        input()\n        print(free.pop(0), flush=True)\n    mine = not mine\n";

/// A competition of a game: its own file with these changes.
struct League {
    place: Place,
    game: &'static str,
    python: PathBuf,
}

impl League {
    /// `None` if this machine has no Python with `NumPy`. Every change must apply to the file. These entrants replace those of the file.
    #[track_caller]
    fn new(game: &'static str, changes: &[(&str, &str)], entrants: &[&str]) -> Option<Self> {
        let python = common::python()?;
        let place = Place::new(&[]);
        place.good(&["init", game, "cup.toml"]);
        let file = fs::read_to_string(place.path("cup.toml")).unwrap();
        let (rules, _) = file.split_once("# Entrants").unwrap();
        let seed = rules.lines().find(|line| line.starts_with("# seed = ")).unwrap();
        let mut rules = rules.replace(seed, "seed = \"figures\"");
        for (from, to) in changes {
            assert!(rules.contains(from), "the competition file of {game} has no {from:?}:\n{rules}");
            rules = rules.replace(from, to);
        }
        for entrant in entrants {
            rules += &format!("\n[[entrant]]\n{entrant}\n");
        }
        place.write("cup.toml", &rules);
        Some(Self { place, game, python })
    }

    fn agon(&self, arguments: &[&str]) -> String {
        let mut command = common::agon(&self.place.path(""), arguments);
        common::good(&command.env("AGON_PYTHON", &self.python).output().unwrap())
    }

    /// Plays all phases, exports the competition and recomputes it.
    #[track_caller]
    fn play_and_recompute(&self, phases: usize, rules: &Json) {
        for _ in 0..phases {
            // A phase may wait for new versions of the bots.
            self.agon(&["run", "cup.toml"]);
        }
        self.agon(&["export", "cup.toml", "out"]);
        let out = self.place.path("out");
        let replayed = self.agon(&["replay", "out/records.agon", "--json", "--frames"]);
        fs::write(out.join("replay.json"), replayed).unwrap();
        let words = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agon-games/data/words.dat");
        fs::copy(words, out.join("words.dat")).unwrap();
        let said = self.recompute(rules);
        assert_eq!(said.0, "", "{}", said.1);
        assert!(said.1.contains("games recomputed"), "{}", said.1);
    }

    /// Stderr and stdout of the recomputation.
    fn recompute(&self, rules: &Json) -> (String, String) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/figures/recompute.py");
        let mut command = Command::new(&self.python);
        command.arg("-B").arg(script).arg(self.game).arg(self.place.path("out")).arg(rules.to_string());
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&output.stderr), text(&output.stdout))
    }
}

#[test]
fn leaderboards_of_solitude_scramble_follow_from_its_games() {
    let changes = [("matches = 100", "matches = 6"), ("matches = 200", "matches = 9")];
    let entrants = [
        "bot = \"house:random\"",
        "bot = \"house:second-best\"",
        "bot = \"house:greedy\"",
        "bot = \"house:counter\"",
        "bot = \"house:left\"",
        "name = \"Mine\"\nbot = \"./mine\"",
    ];
    let Some(league) = League::new("solitude-scramble", &changes, &entrants) else { return };
    league.place.write("mine/Submission.py", SUBMISSION);
    league.play_and_recompute(3, &json!({"turns": 10, "matches": [6, 6, 9]}));
}

#[test]
fn score_efficiency_and_spread_of_colour_battle_follow_from_its_games() {
    let changes = [("rounds = 1000", "rounds = 60"), ("games = 1000", "games = 5")];
    let entrants = [
        "bot = \"house:random\"",
        "bot = \"house:sweeper\"",
        "bot = \"house:seeker\"",
        "name = \"Painter\"\nbot = \"painter.py\"\ncontributor = \"Ada\"",
    ];
    let Some(league) = League::new("colour-battle", &changes, &entrants) else { return };
    league.place.write("painter.py", PAINTER);
    let rules = json!({"rounds": 60, "games": 5, "programs": ["Painter"]});
    league.play_and_recompute(1, &rules);
    // The recomputation finds a wrong figure and a missing game.
    let table = league.place.path("out/table-1.json");
    let right = fs::read_to_string(&table).unwrap();
    let mut wrong: Json = serde_json::from_str(&right).unwrap();
    wrong["sheets"][2]["rows"][0]["deviation"] = json!(1.5);
    fs::write(&table, wrong.to_string()).unwrap();
    assert!(league.recompute(&rules).0.contains("wrong: spread deviation"), "{:?}", league.recompute(&rules));
    fs::write(&table, right).unwrap();
    let rules = json!({"rounds": 60, "games": 6, "programs": ["Painter"]});
    assert!(league.recompute(&rules).0.contains("wrong: number of games"), "{:?}", league.recompute(&rules));
}

#[test]
fn league_of_connect_five_follows_from_its_games() {
    let changes = [
        ("games = 99, first_to = 50", "games = 5, first_to = 3"),
        ("games = 9, first_to = 5", "games = 4, first_to = 3"),
    ];
    let entrants = [
        "bot = \"house:random\"",
        "bot = \"house:stacker\"",
        "bot = \"house:tactician\"",
        "bot = \"house:line-counter\"",
        "bot = \"Fiver.py\"",
    ];
    let Some(league) = League::new("connect-five", &changes, &entrants) else { return };
    league.place.write("Fiver.py", FIVE);
    league.play_and_recompute(1, &json!({"parts": [[5, 3], [4, 3]]}));
}

#[test]
fn tables_of_seekers_and_hiders_follow_from_their_games() {
    let changes = [("steps = 4000", "steps = 120"), ("boards = 100", "boards = 3")];
    let entrants = [
        "bot = \"house:roaming-seeker\"",
        "bot = \"house:chasing-seeker\"",
        "bot = \"house:still-hider\"",
        "bot = \"house:running-hider\"",
        "name = \"Walker\"\nbot = \"walker.py\"\nrole = \"seeker\"",
    ];
    let Some(league) = League::new("hide-and-seek", &changes, &entrants) else { return };
    league.place.write("walker.py", SEEKER);
    league.play_and_recompute(1, &json!({"steps": 120, "boards": 3}));
}

#[test]
fn round_robin_and_knockout_of_word_racer_follow_from_their_games() {
    let changes = [("letters = \"AEIRST\"", "letters = \"AE\""), ("pairs = 3 ", "pairs = 1 ")];
    let entrants = [
        "bot = \"house:random\"",
        "bot = \"house:filler\"",
        "bot = \"house:z-racer\"",
        "bot = \"house:rows\"",
        "name = \"Quitter\"\nbot = \"python3 racer.py\"",
    ];
    let Some(league) = League::new("word-racer", &changes, &entrants) else { return };
    league.place.write("racer.py", RACER);
    league.play_and_recompute(2, &json!({"letters": "AE", "top": 4, "pairs": 1, "extra": 3}));
}
