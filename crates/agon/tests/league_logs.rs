//! The ledger stores the output of a program in the games of a competition, for its author.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use agon_league::MatchKey;
use agon_store::{BotOutput, Ledger as _, SqliteLedger};
use common::{agon, folder_with, good};

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
