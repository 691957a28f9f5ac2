//! Audits of bots that must not remember: the calls of several games are made again, in another order, in a fork of the
//! bot as it was after loading, and what they give is compared here.
//!
//! A fork costs as much as dozens of calls. So the calls of a game are kept when it is over ([`open`]), and made again
//! together with those of others ([`settle`]) before the result of any of them counts: the last game first, and each game's
//! calls in an order of its own. Whatever a bot took with it from one game to the next is then missing, or too much.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::time::Duration;

use agon_core::{Fault, FaultReport};
use serde::Serialize;
use serde_json::Value as Json;

use crate::message;
use crate::process::shown;
use crate::program::Program;
use crate::running::{Running, kind};
use crate::warm::stable;

/// For the calls of one game that take no time: as long as they may take, and a little more.
const PATIENCE: Duration = Duration::from_secs(24);
/// So many calls are made again at once, about.
const MOST_CALLS: usize = 640;
/// No more are put off when those that are open took so long.
const LONGEST: Duration = Duration::from_secs(10);
/// Nor when their answers are so long, in bytes: what comes back must fit a packet.
const MOST_BYTES: usize = 8 << 10;

/// What was found out about games, by the number under which it was left open: the turn, and what was wrong with it.
pub type Findings = HashMap<u64, (u32, FaultReport)>;

thread_local! {
    static OPEN: RefCell<Vec<(u64, Case)>> = const { RefCell::new(Vec::new()) };
    static LAST: Cell<u64> = const { Cell::new(0) };
}

/// One call.
#[derive(Debug)]
struct Call {
    /// Which of the processes that played this game was called.
    process: usize,
    turn: u32,
    asked: Vec<u8>,
    gave: Option<Vec<u8>>,
}

/// The calls of one bot in one game.
#[derive(Default, Debug)]
pub(crate) struct Kept {
    /// The seed of each process that played.
    seeds: Vec<u64>,
    hello: Vec<u8>,
    calls: Vec<Call>,
    /// What they took.
    pub took: Duration,
}

impl Kept {
    /// A process was told `hello`.
    pub fn begin(&mut self, seed: u64, hello: &[u8]) {
        self.seeds.push(seed);
        self.hello = hello.to_vec();
    }

    /// Whether one was.
    pub fn is_begun(&self) -> bool {
        !self.seeds.is_empty()
    }

    /// Whether there is nothing to compare.
    pub fn is_empty(&self) -> bool {
        self.calls.iter().all(|call| call.gave.is_none())
    }

    /// It was asked in a game's short form.
    pub fn asked(&mut self, turn: u32, text: &[u8]) {
        let process = self.seeds.len().saturating_sub(1);
        self.calls.push(Call { process, turn, asked: text.to_vec(), gave: None });
    }

    /// It gave this line.
    pub fn answered(&mut self, line: &[u8]) {
        if let Some(call) = self.calls.last_mut() {
            call.gave = Some(line.to_vec());
        }
    }

    fn answers(&self) -> impl DoubleEndedIterator<Item = (&Call, &[u8])> {
        self.calls.iter().filter_map(|call| call.gave.as_deref().map(|gave| (call, gave)))
    }
}

/// A bot's game that is to be looked into.
#[derive(Debug)]
pub(crate) struct Case {
    pub program: Program,
    pub role: &'static str,
    pub game: &'static str,
    pub names: Vec<String>,
    pub kept: Kept,
}

/// Leaves a game open. Returns the number under which something about it may be found.
pub(crate) fn open(case: Case) -> u64 {
    let ticket = LAST.get() + 1;
    LAST.set(ticket);
    OPEN.with_borrow_mut(|open| open.push((ticket, case)));
    ticket
}

/// Whether no more should be left open on this thread.
pub fn is_due() -> bool {
    OPEN.with_borrow(|open| {
        let kept = || open.iter().map(|(_, case)| &case.kept);
        let bytes = kept().flat_map(Kept::answers).map(|(_, gave)| gave.len());
        // A plain answer is a few bytes, of which there are many.
        let long = bytes.filter(|length| *length > 16).sum::<usize>();
        kept().map(|kept| kept.calls.len()).sum::<usize>() > MOST_CALLS
            || kept().map(|kept| kept.took).sum::<Duration>() > LONGEST
            || long > MOST_BYTES
    })
}

/// Looks into all games that this thread has left open.
pub fn settle() -> Findings {
    let mut left = OPEN.with_borrow_mut(std::mem::take);
    let mut found = Findings::new();
    while let Some((_, first)) = left.first() {
        let program = first.program.clone();
        let (same, others): (Vec<_>, _) = left.into_iter().partition(|(_, case)| case.program == program);
        left = others;
        let before = found.len();
        look_into(&same, &mut found);
        // Those that were found out are not let in again.
        if found.len() > before
            && let Some((_, case)) = same.first()
        {
            stable::discard(&kind(&case.program, case.role));
        }
    }
    found
}

/// What came of making calls again.
enum Again {
    /// What each gave, in the order in which they were made.
    Gave(Vec<String>),
    /// There is nothing to compare.
    Broken(String),
    /// Nor was there in time.
    Late,
}

/// Games of one and the same bot.
fn look_into(cases: &[(u64, Case)], found: &mut Findings) {
    let order = order(cases);
    let mut differing = Findings::new();
    let again = call_again(cases, &order);
    match &again {
        Again::Gave(again) => compare(cases, &order, again, &mut differing),
        Again::Broken(_) if cases.len() > 1 => {}
        Again::Broken(why) => all_differ(cases, why, &mut differing),
        Again::Late => all_differ(cases, "no answer in time", &mut differing),
    }
    let clean = differing.is_empty() && matches!(again, Again::Gave(_));
    // Something is wrong with some of them. With which shows when each is looked into alone: what the first game leaves
    // behind, for all that follow, is otherwise there when they are called again. (Not so if it hangs: that takes long.)
    if !clean && cases.len() > 1 && !matches!(again, Again::Late) {
        for case in cases {
            look_into(std::slice::from_ref(case), found);
        }
    }
    for (ticket, finding) in differing {
        found.entry(ticket).or_insert(finding);
    }
}

/// The first difference in each game.
fn compare(cases: &[(u64, Case)], order: &[(usize, usize)], again: &[String], found: &mut Findings) {
    for (&(case, call), again) in order.iter().zip(again) {
        let (ticket, case) = &cases[case];
        let Some((call, gave)) = case.kept.answers().nth(call) else { continue };
        let earlier = found.get(ticket).is_some_and(|(turn, _)| *turn < call.turn);
        if !earlier && !is_same(gave, again) {
            found.insert(*ticket, (call.turn, differs(gave, again)));
        }
    }
}

fn all_differ(cases: &[(u64, Case)], why: &str, found: &mut Findings) {
    for (ticket, case) in cases {
        if let Some((call, gave)) = case.kept.answers().next() {
            found.insert(*ticket, (call.turn, differs(gave, why)));
        }
    }
}

/// Each call as its case and its number there: the last game first, and within a game in an order that its seed decides,
/// but never the one in which they were made.
fn order(cases: &[(u64, Case)]) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    for (number, (_, case)) in cases.iter().enumerate().rev() {
        let seed = case.kept.seeds.first().copied().unwrap_or(0);
        let made: Vec<usize> = (0..case.kept.answers().count()).collect();
        let mut order = made.clone();
        order.sort_by_key(|&n| {
            (seed ^ (n as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40
        });
        if order == made {
            order.reverse();
        }
        all.extend(order.into_iter().map(|call| (number, call)));
    }
    all
}

/// The message that has calls made again (`agon_bot/audits.py`).
#[derive(Serialize)]
#[serde(tag = "type", rename = "audit")]
struct Order<'o> {
    id: u64,
    patience_ms: u64,
    /// Names, and the seeds of `hello` and `start`.
    games: Vec<(&'o [String], String, String)>,
    /// The number of a game, and what was asked, hexadecimal.
    calls: Vec<(usize, String)>,
}

fn call_again(cases: &[(u64, Case)], order: &[(usize, usize)]) -> Again {
    let Some((_, first)) = cases.first() else { return Again::Gave(Vec::new()) };
    let patience = PATIENCE + cases.iter().map(|(_, case)| case.kept.took).sum::<Duration>();
    let seed = first.kept.seeds.first().copied().unwrap_or(0).to_string();
    let environment = [("AGON_SEED", seed), ("AGON_GAME", first.game.to_owned())];
    let mut running = match Running::start(&first.program, &environment, true, first.role) {
        Ok(running) => running,
        Err(error) => return Again::Broken(format!("could not be started: {error}")),
    };
    let mut text = first.kept.hello.clone();
    if serde_json::to_writer(&mut text, &message(cases, order, patience)).is_err() {
        return Again::Broken("could not be asked".to_owned());
    }
    text.push(b'\n');
    running.ask(&text, 2, patience + Duration::from_secs(1));
    let (_, came) = running.wait();
    if came == Err(crate::talk::Trouble::Late) {
        return Again::Late;
    }
    let answer = running.line().and_then(|_| running.line());
    match answer.map(|line| message::read(&line)) {
        Ok(Ok(message::Answered { again: Some(again), .. })) if again.len() == order.len() => {
            running.rest(None);
            Again::Gave(again)
        }
        Ok(Ok(message::Answered { broken: Some(why), .. })) if why == "no answer in time" => Again::Late,
        Ok(Ok(message::Answered { broken: Some(why), .. })) => {
            running.rest(None);
            Again::Broken(why)
        }
        Err(crate::talk::Trouble::Ended(how)) => Again::Broken(how),
        _ => Again::Broken("nothing that can be read".to_owned()),
    }
}

fn message<'o>(cases: &'o [(u64, Case)], order: &[(usize, usize)], patience: Duration) -> Order<'o> {
    let mut games = Vec::new();
    // The first of each case's games.
    let mut firsts = Vec::new();
    for (_, case) in cases {
        firsts.push(games.len());
        let seeds = case.kept.seeds.iter().map(u64::to_string);
        games.extend(seeds.map(|seed| (case.names.as_slice(), seed.clone(), seed)));
    }
    let calls = order.iter().filter_map(|&(case, number)| {
        let (call, _) = cases[case].1.kept.answers().nth(number)?;
        Some((firsts[case] + call.process, hex(&call.asked)))
    });
    Order { id: 2, patience_ms: patience.as_millis() as u64, games, calls: calls.collect() }
}

fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from(b"0123456789abcdef"[usize::from(nibble)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// A line without its id: the text of an answer, or what else it says.
fn content(line: &[u8]) -> Json {
    if let [b'=', _, _, _, _, text @ ..] = line {
        return Json::String(String::from_utf8_lossy(text).into_owned());
    }
    let mut said: Json = serde_json::from_slice(line).unwrap_or_default();
    if let Json::Object(fields) = &mut said {
        fields.remove("id");
    }
    said
}

fn is_same(gave: &[u8], again: &str) -> bool {
    match content(gave) {
        Json::String(text) => text == again,
        said => serde_json::from_str::<Json>(again).is_ok_and(|again| again == said),
    }
}

fn differs(gave: &[u8], again: &str) -> FaultReport {
    let first = match content(gave) {
        Json::String(text) => text,
        said => said.to_string(),
    };
    not_stateless(&first, again)
}

/// Two answers to the same call.
pub(crate) fn not_stateless(first: &str, again: &str) -> FaultReport {
    let (first, again) = (shown(first.as_bytes()), shown(again.as_bytes()));
    let says = format!("not stateless: answered {first}, but called again in another order {again}");
    FaultReport::new(Fault::Illegal, says)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(seed: u64, turns: u32) -> (u64, Case) {
        let mut kept = Kept::default();
        kept.begin(seed, b"{}\n");
        for turn in 1..=turns {
            kept.asked(turn, &[turn as u8]);
            if turn != 2 {
                kept.answered(b"=\x01\0\0\0LEFT");
            }
        }
        let program = Program::new(["bot"], "/");
        (seed, Case { program, role: "player", game: "game", names: Vec::new(), kept })
    }

    #[test]
    fn the_last_game_comes_first_and_no_game_in_the_order_it_was_played_in() {
        for seed in 0..200 {
            let cases = [case(seed, 10), case(seed + 1, 3)];
            let order = order(&cases);
            assert_eq!(order.len(), 9 + 2, "a call without an answer is not made again");
            assert!(
                order[..2].iter().all(|(case, _)| *case == 1)
                    && order[2..].iter().all(|(case, _)| *case == 0)
            );
            for calls in [&order[..2], &order[2..]] {
                assert!(!calls.is_sorted(), "{order:?}");
                let mut all: Vec<usize> = calls.iter().map(|(_, call)| *call).collect();
                all.sort_unstable();
                assert!(all.into_iter().eq(0..calls.len()));
            }
        }
    }

    #[test]
    fn a_call_is_asked_for_with_the_seed_of_the_process_that_answered() {
        let mut one = case(7, 1);
        one.1.kept.begin(8, b"{}\n");
        one.1.kept.asked(2, &[0xab]);
        one.1.kept.answered(b"{}");
        let cases = [case(5, 1), one];
        let message = message(&cases, &[(1, 1), (1, 0), (0, 0)], Duration::from_secs(1));
        let json = serde_json::to_value(&message).unwrap();
        assert_eq!(json["calls"], serde_json::json!([[2, "ab"], [1, "01"], [0, "01"]]));
        assert_eq!(json["games"], serde_json::json!([[[], "5", "5"], [[], "7", "7"], [[], "8", "8"]]));
        assert_eq!((&json["type"], &json["patience_ms"]), (&"audit".into(), &1000.into()));
    }

    #[test]
    fn answers_and_faults_are_compared_without_their_ids() {
        let fault = "{\"id\":4,\"fault\":\"crash\",\"says\":\"\u{e4}\"}".as_bytes();
        assert!(is_same(b"=\x01\0\0\0LEFT", "LEFT") && !is_same(b"=\x01\0\0\0LEFT", "RIGHT"));
        assert!(is_same(fault, r#"{"fault":"crash","says":"\u00e4"}"#));
        assert!(!is_same(fault, r#"{"fault":"crash","says":"a"}"#) && !is_same(fault, "LEFT"));
        let says = differs(fault, "LEFT").says;
        assert!(says.contains("crash") && says.ends_with("`LEFT`"), "{says}");
    }
}
