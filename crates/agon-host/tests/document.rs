//! The dialogues in `docs/protocol.md` come from real games. `AGON_BLESS=1` rewrites them.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]
#![allow(clippy::unnecessary_debug_formatting, reason = "a quoted path is a string in the script")]

mod common;

use std::fmt::Write as _;
use std::path::Path;

use agon_games::colour_battle::ColourBattle;
use agon_games::connect_five::ConnectFive;
use agon_games::hide_and_seek::HideAndSeek;
use agon_games::solitude_scramble::SolitudeScramble;
use agon_games::word_racer::{WordRacer, text_protocol::write_request};
use agon_host::{Program, TextPlayer};
use common::{Seated, alone, bare_script, examples, play};

/// An example bot that logs everything it reads and writes to a file named by its seed.
fn listened_to(bot: &str, folder: &Path) -> Program {
    bare_script(&format!(
        "
import os, runpy, sys
log = open(os.path.join({folder:?}, os.environ['AGON_SEED']), 'a')
def note(mark, line): log.write(mark + line); log.flush()
class In:
    def readline(self, *_):
        line = sys.__stdin__.readline()
        if line: note('> ', line)
        return line
    def __iter__(self): return iter(self.readline, '')
class Out:
    text = ''
    def write(self, text): self.text += text
    def flush(self):
        if self.text: note('< ', self.text)
        sys.__stdout__.write(self.text); sys.__stdout__.flush()
        self.text = ''
sys.stdin, sys.stdout = In(), Out()
runpy.run_path({:?})
sys.stdout = sys.__stdout__
",
        examples().join("python").join(bot)
    ))
}

/// The first `turns` turns, and everything before and after all turns. The time left later in a game varies, so it is written as
/// a round number.
fn shortened(log: &str, turns: usize) -> String {
    let mut text = String::new();
    let mut seen = 0;
    let mut lines = log.lines();
    while let Some(line) = lines.next() {
        let is_turn = line.contains(r#""type":"turn""#);
        seen += usize::from(is_turn);
        let reply = if line.contains(r#""type":"bye""#) { None } else { lines.next() };
        if is_turn && seen > turns {
            if seen == turns + 1 {
                text.push_str("...\n");
            }
            continue;
        }
        let line = if is_turn && seen > 1 { with_round_limit(line) } else { line.to_owned() };
        let _ = writeln!(text, "{line}");
        if let Some(reply) = reply {
            let _ = writeln!(text, "{reply}");
        }
    }
    text
}

fn with_round_limit(line: &str) -> String {
    let field = r#""limit_ms":"#;
    let Some((before, after)) = line.split_once(field) else { return line.to_owned() };
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    let limit: u64 = after[..digits].parse().unwrap();
    format!("{before}{field}{}{}", limit.div_ceil(1000) * 1000, &after[digits..])
}

fn logs(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).unwrap().flatten();
    files.map(|file| std::fs::read_to_string(file.path()).unwrap()).collect()
}

fn dialogue(game: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let program = || listened_to("bot.py", folder.path());
    let turns = match game {
        "solitude-scramble" => {
            let house = ["greedy", "centre", "left"].map(Seated::<SolitudeScramble>::House);
            let players = std::iter::once(Seated::Program(program())).chain(house).collect();
            play::<SolitudeScramble>(&[("turns", "2")], 1, players);
            // One process for each turn: the second one shows a history.
            let second = logs(folder.path()).into_iter().find(|log| log.contains(r#""turn":2"#));
            return shortened(&second.expect("the second turn was played"), 1);
        }
        "colour-battle" => {
            let players = vec![Seated::Program(program()), Seated::House("random")];
            play::<ColourBattle>(&[("rounds", "3")], 1, players);
            1
        }
        "connect-five" => {
            play::<ConnectFive>(&[], 1, vec![Seated::Program(program()), Seated::House("random")]);
            2
        }
        "hide-and-seek" => {
            let players = vec![Seated::Program(program()), Seated::House("still-hider")];
            play::<HideAndSeek>(&[("steps", "3")], 1, players);
            1
        }
        "word-racer" => {
            play::<WordRacer>(&[], 1, vec![Seated::Program(program()), Seated::House("z-racer")]);
            2
        }
        _ => {
            let program = listened_to("word_racer.py", folder.path());
            let player = Box::new(TextPlayer::<WordRacer>::new(program, write_request));
            play::<WordRacer>(&[], 1, vec![Seated::Player(player), Seated::House("z-racer")]);
            let log = logs(folder.path()).remove(0);
            let first: Vec<&str> = log.lines().take(8).collect();
            return format!("{}\n...\n", first.join("\n"));
        }
    };
    shortened(&logs(folder.path()).remove(0), turns)
}

#[test]
fn dialogues_in_the_document_match_real_games() {
    let _alone = alone();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocol.md");
    let document = std::fs::read_to_string(&path).unwrap();
    let mut written = String::new();
    let mut rest = document.as_str();
    while let Some((before, after)) = rest.split_once("<!-- dialogue ") {
        let (game, after) = after.split_once(" -->\n").unwrap();
        let (_, after) = after.split_once("<!-- end -->").unwrap();
        let _ = write!(written, "{before}<!-- dialogue {game} -->\n```\n{}```\n<!-- end -->", dialogue(game));
        rest = after;
    }
    written.push_str(rest);
    if std::env::var_os("AGON_BLESS").is_some() {
        std::fs::write(&path, &written).unwrap();
    }
    assert!(
        written == document || std::env::var_os("AGON_BLESS").is_some(),
        "run with AGON_BLESS=1 and review the difference"
    );
}
