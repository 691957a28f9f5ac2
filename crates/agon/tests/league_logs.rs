//! The ledger stores the output of a program in the games of a competition, for its author. A bot reads the games of other bots in `logs/`.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use agon_league::{GameResult, MatchKey};
use agon_store::{BotOutput, Ledger as _, SqliteLedger};
use common::{agon, folder_with, good};
use serde_json::{Value as Json, json};

const COMPETITION: &str = r#"name = "Talkers"
game = "connect-five"
seed = "only for tests"

[[phase]]
name = "League"
format = "round-robin"
parts = [{ games = 2, first_to = 2, seconds = 1 }]

[[entrant]]
name = "Talker"
bot = "Talker.py"

[[entrant]]
name = "Silent"
bot = "Silent.py"

[[entrant]]
bot = "house:random"
"#;

const TALKER: &str = "import sys
class Talker:
    asked = 0
    def get_move(self, board, player, T, N):
        self.asked += 1
        print('move', self.asked, '\\x1b[31m')
        print('x' * 3000, file=sys.stderr)
        return self.asked % 7 + 1
";

const SILENT: &str = "class Silent:
    def get_move(self, board, player, T, N):
        return 1 + sum(1 for row in board for cell in row if cell) % 7
";

fn text(log: &BotOutput) -> String {
    log.pieces.iter().map(|piece| piece.text.as_str()).collect()
}

#[test]
fn output_of_a_program_is_stored_by_turn() {
    if common::python().is_none() {
        return;
    }
    let folder = folder_with(&[("cup.toml", COMPETITION), ("Talker.py", TALKER), ("Silent.py", SILENT)]);
    good(&agon(folder.path(), &["run", "cup.toml"]).output().unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let ledger = SqliteLedger::open_to_read(folder.path().join("cup.ledger")).await.unwrap();
        let mut talked = 0;
        for key in (0..3).flat_map(|stage| (0..2).map(move |number| MatchKey { phase: 0, stage, number })) {
            let Some(found) = ledger.find(key).await.unwrap() else { continue };
            let seats = found.result.entrants();
            for game in 0..found.result.games.len() as u32 {
                for (seat, entrant) in seats.iter().enumerate() {
                    let log = ledger.bot_output(key, game, seat as u8).await.unwrap();
                    assert_eq!(log.is_some(), entrant.0 == 0, "{key}, game {game}, seat {seat}");
                    let Some(log) = log else { continue };
                    talked += 1;
                    let asked = found.result.games[game as usize].seats[seat].answers;
                    let whole = text(&log);
                    assert!(
                        whole.contains("\\u{1b}") && !whole.contains('\u{1b}'),
                        "control characters are not escaped"
                    );
                    // 3 KB per move: with more than five moves only the beginning and the end are kept.
                    assert_eq!(whole.contains(" bytes left out ..."), asked > 5, "{asked}: {}", whole.len());
                    assert!(whole.len() < 17 << 10 && whole.contains("move "));
                    assert!(log.pieces.iter().all(|piece| (1..200).contains(&piece.turn)), "by turn");
                    assert!(log.pieces.is_sorted_by_key(|piece| piece.turn));
                }
            }
        }
        assert!(talked >= 4, "{talked}");
        assert_eq!(ledger.check().await.unwrap(), Vec::<String>::new());
    });
}

/// A league of three bots: in each leg the first bot has one round without a match, in which the others play.
const LEAGUE: &str = r#"name = "Readers"
game = "connect-five"
seed = "only for tests"

[[phase]]
name = "League"
format = "round-robin"
legs = 2
parts = [{ games = 2, first_to = 2, seconds = 5 }]

[[entrant]]
name = "Reader"
bot = "Reader.py"

[[entrant]]
name = "Ann"
bot = "house:random"

[[entrant]]
name = "Bob"
bot = "house:stacker"
"#;

const NAMES: [&str; 3] = ["Reader", "Ann", "Bob"];
/// Rounds of both legs, each with one match.
const ROUNDS: u32 = 6;

/// Prints what the logs of other bots' games say, at its first move in a match.
const READER: &str = "import json, os

class Reader:
    told = False

    def get_move(self, board, player, T, N):
        if not self.told:
            self.told = True
            for name in sorted(os.listdir('logs'), key=lambda name: int(name[4:-5])):
                with open(os.path.join('logs', name)) as file:
                    log = json.load(file)
                result = log['result']
                if log['seat'] is None:
                    assert log['start']['you'] is result['you'] is result['score'] is None
                    told = [log['names'], result['winner'], result['winner_seat'], len(log['turns'])]
                    print('other', json.dumps(told))
        return next(column for column in range(9) if board[0][column] == 0)
";

/// What the log of a game says to a bot that did not play in it.
fn game_of_others(names: &[&str], number: usize, game: &GameResult) -> Json {
    let best: Vec<usize> = (0..2).filter(|&seat| game.seats[seat].place == 1).collect();
    let winner_seat = if let [seat] = best[..] { Some(seat) } else { None };
    // The first move alternates, and player 1 is the one that moves first.
    let winner = winner_seat.map(|seat| if seat == number % 2 { 1 } else { 2 });
    json!([names, winner, winner_seat, game.turns])
}

#[test]
fn bot_finds_the_games_of_other_bots_with_their_winners() {
    let folder = folder_with(&[("cup.toml", LEAGUE), ("Reader.py", READER)]);
    good(&agon(folder.path(), &["run", "cup.toml"]).output().unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let ledger = SqliteLedger::open_to_read(folder.path().join("cup.ledger")).await.unwrap();
        let (mut games, mut found): (Vec<Json>, Vec<Json>) = (Vec::new(), Vec::new());
        for stage in 0..ROUNDS {
            let key = MatchKey { phase: 0, stage, number: 0 };
            let played = ledger.find(key).await.unwrap().unwrap().result;
            let seats: Vec<usize> = played.entrants().iter().map(|entrant| entrant.0 as usize).collect();
            if let Some(seat) = seats.iter().position(|&entrant| entrant == 0) {
                let output = ledger.bot_output(key, 0, seat as u8).await.unwrap();
                let printed = output.as_ref().map(text).unwrap_or_default();
                let told = printed.lines().filter_map(|line| line.strip_prefix("other "));
                found = told.map(|line| serde_json::from_str(line).unwrap()).collect();
                // Games of other bots are there from the next round on.
                assert_eq!(found, games, "{key}: {printed}");
            } else {
                let names: Vec<&str> = seats.iter().map(|&entrant| NAMES[entrant]).collect();
                let of_match = played.games.iter().enumerate();
                games.extend(of_match.map(|(number, game)| game_of_others(&names, number, game)));
            }
        }
        assert!(found.len() >= 2, "the games of the first leg: {found:?}");
        assert!(found.iter().any(|game| game[1].is_number()), "a game with a winner: {found:?}");
    });
}
