//! Conformance suite that every game must pass. It plays at random and checks that the game never panics, that answers are
//! legal or rejected with reasons, that observations reveal no hidden state, and that faults work at every turn. A failed
//! check panics, because the suite is for tests only.
//!
//! The tests of the engine crate check recording and replaying of the same games.

#![allow(clippy::expect_used, clippy::missing_panics_doc, reason = "a test suite fails by panicking")]

mod parts;

pub use parts::{PLACEHOLDER, missing_parts};

use std::collections::HashSet;

use serde_json::Value as Json;

use crate::assets::Assets;
use crate::drawing::{Drawing, MAX_SHAPES};
use crate::fault::Fault;
use crate::frame;
use crate::game::{Game, HouseBots, View};
use crate::picture::Viewpoint;
use crate::player::Reply;
use crate::random::FastRng;
use crate::seat::Seat;
use crate::settings::Settings;

/// Settings (name and text) and number of seats of one game.
pub type DrawnSetup = (Vec<(&'static str, String)>, usize);

/// Configuration of a conformance run.
pub struct ConformanceConfig {
    /// Number of random games.
    pub games: u32,
    /// Draws the settings and number of seats of a game. Choose settings that keep games short.
    pub settings: fn(&mut FastRng) -> DrawnSetup,
    /// Maximum number of turns of a game.
    pub max_turns: u32,
}

/// Maximum number of legal answers of a seat: a person gets all of them with each request.
const MAX_LEGAL_ANSWERS: usize = 4096;

/// Runs the suite and panics at the first failed check.
pub fn check<G: Game + View + HouseBots>(config: &ConformanceConfig) {
    check_info::<G>();
    check_garbage::<G>();
    for number in 0..config.games {
        let mut rng = FastRng::new(0x00A6_0000 + u64::from(number));
        let (pairs, seats) = (config.settings)(&mut rng);
        let pairs = pairs.iter().map(|(name, text)| (*name, text.as_str()));
        let settings =
            Settings::parse(G::info().settings, pairs).expect("settings of the configuration are valid");
        let seed = rng.next_u64();
        let (settings, seed) = G::series_game(&settings, seed, rng.below(3));
        let game =
            G::new(&settings, seats, &Assets::none()).expect("settings of the configuration are valid");
        assert_eq!(game.seats(), seats);
        // Three fault rates and none: most games are played to the end, and some have a fault in nearly every turn.
        let fault_one_in = [u32::MAX, 200, 20, 3][number as usize % 4];
        play(&game, seed, &mut rng, fault_one_in, config.max_turns, number % 8 == 0);
    }
}

fn check_info<G: Game + HouseBots>() {
    let info = G::info();
    assert!(info.seats.min >= 2 && info.seats.max <= crate::MAX_SEATS && info.seats.min <= info.seats.max);
    assert!(
        info.roles.len() == 1 || info.roles.len() == info.seats.max,
        "one role for all seats, or one for each seat"
    );
    assert!(!info.requests.is_empty() && info.stats.len() <= crate::outcome::MAX_STATS);
    for (i, bot) in G::bots().iter().enumerate() {
        assert!(!bot.strategy.is_empty(), "{} has no strategy text", bot.name);
        assert!(
            bot.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'),
            "{}",
            bot.name
        );
        assert!(
            !G::bots()[..i].iter().any(|other| other.name == bot.name),
            "duplicate house bot {}",
            bot.name
        );
        assert!(Seat::all(info.seats.max).any(|seat| bot.plays(seat)), "{} plays at no seat", bot.name);
    }
    for role in info.roles {
        let bots = G::bots().iter().filter(|b| b.roles.is_empty() || b.roles.contains(&role.name)).count();
        assert!(bots >= 5, "role {} has {bots} house bots, needs at least five", role.name);
    }
}

/// Reading any text must not panic, and an accepted answer must survive a round trip through the record form.
fn check_garbage<G: Game>() {
    let mut rng = FastRng::new(5);
    let mut texts: Vec<String> =
        ["", " ", "\0", "-1", "9999999999999999999999", "NaN", "[]", "é", "\u{1F600}"]
            .map(String::from)
            .into();
    texts.extend((0..2000).map(|_| {
        let len = rng.below(6);
        (0..len).filter_map(|_| char::from_u32(rng.below(300))).collect()
    }));
    for text in texts {
        if let Ok(answer) = G::read_answer(&text) {
            assert_eq!(round_trip::<G>(answer), answer, "from {text:?}");
        } else if let Err(reason) = G::read_answer(&text) {
            assert!(!reason.is_empty(), "no reason for {text:?}");
        }
    }
}

fn round_trip<G: Game>(answer: G::Answer) -> G::Answer {
    let mut token = Vec::new();
    G::write_answer(answer, &mut token);
    let token = String::from_utf8(token).expect("ASCII");
    let plain = |c: char| c.is_ascii_graphic() && c != '"' && c != '\\';
    assert!(!token.is_empty() && token.chars().all(plain), "{token:?} is not valid in a record");
    assert!(!token.starts_with(['!', '-']), "{token:?} would be read as a fault");
    G::read_answer(&token).expect("a written answer can be read")
}

fn play<G: Game + View>(
    game: &G,
    seed: u64,
    rng: &mut FastRng,
    fault_one_in: u32,
    max_turns: u32,
    thorough: bool,
) {
    let names: Vec<String> = (0..game.seats()).map(|i| format!("bot-{i}")).collect();
    let mut state = game.start(seed);
    assert_eq!(game.frame(&state), game.frame(&game.start(seed)), "the same seed gives the same start");
    let mut shown = game.frame(&state);
    for turn in 0.. {
        let to_move = game.to_move(&state);
        assert_eq!(
            to_move.is_empty(),
            game.outcome(&state).is_some(),
            "outcome and end disagree at turn {turn}"
        );
        if to_move.is_empty() {
            break;
        }
        assert!(turn < max_turns, "the game is not over after {turn} turns");
        let inspect = thorough || rng.below(16) == 0;
        if rng.below(32) == 0 {
            check_seats(game, &state, rng);
        }
        let mut replies = Vec::new();
        for seat in to_move {
            assert!(seat.index() < game.seats());
            assert!(game.request(&state, seat) < G::info().requests.len());
            assert_eq!(game.request(&state, seat), G::request_of(&game.observe(&state, seat)));
            if inspect {
                check_nothing_hidden(game, &state, seat, rng, &names);
            }
            let answer = game.sample(&state, seat, rng).expect("a seat to move has a legal answer");
            assert_eq!(game.check(&state, seat, answer), Ok(()), "sampled answer {answer:?} is not legal");
            if inspect {
                let legal = game.legal_answers(&state, seat);
                assert!(legal.contains(&answer), "seat {seat}: {answer:?} is not among the legal answers");
            }
            assert_eq!(round_trip::<G>(answer), answer);
            let fault = Fault::ALL[rng.below(4) as usize];
            replies.push(if rng.below(fault_one_in) == 1 {
                Reply::Fault(fault)
            } else {
                Reply::Answer(answer)
            });
        }
        if inspect {
            check_faults(game, &state, &replies);
        }
        game.apply(&mut state, &replies);
        if thorough {
            let next = game.frame(&state);
            let delta = frame::diff(&shown, &next);
            frame::patch(&mut shown, &delta);
            assert_eq!(shown, next, "frame and delta do not give the next frame");
        }
    }
    for seat in Seat::all(game.seats()) {
        assert!(game.legal_answers(&state, seat).is_empty(), "seat {seat} has legal answers after the end");
    }
    let frame = game.frame(&state);
    game.apply(&mut state, &[]);
    assert_eq!(frame, game.frame(&state), "the state changes after the end");
    check_outcome(game, &state);
    assert!(!game.picture(&state, Viewpoint::All, &names).plain().is_empty());
}

fn observation<G: Game>(game: &G, state: &G::State, seat: Seat) -> Json {
    serde_json::to_value(game.observe(state, seat)).expect("an observation is JSON")
}

/// Checks that a drawing has a size, a title, and fewer shapes than would be cut off.
fn check_drawing(drawing: &Drawing) {
    assert!(drawing.width > 0.0 && drawing.height > 0.0, "a drawing without a size");
    assert!(!drawing.title.is_empty(), "a drawing without a title");
    let shapes = drawing.shapes.len();
    assert!((1..MAX_SHAPES).contains(&shapes), "a drawing has 1 to {MAX_SHAPES} shapes, not {shapes}");
}

fn check_nothing_hidden<G: Game + View>(
    game: &G,
    state: &G::State,
    seat: Seat,
    rng: &mut FastRng,
    names: &[String],
) {
    let other = game.resample(state, seat, rng);
    assert_eq!(
        observation(game, state, seat),
        observation(game, &other, seat),
        "the observation of seat {seat} depends on hidden state"
    );
    let viewpoint = Viewpoint::Seat(seat);
    assert_eq!(
        game.picture(state, viewpoint, names),
        game.picture(&other, viewpoint, names),
        "the picture of seat {seat} depends on hidden state"
    );
    let drawing = game.drawing(state, viewpoint, names);
    assert_eq!(
        drawing,
        game.drawing(&other, viewpoint, names),
        "the drawing of seat {seat} depends on hidden state"
    );
    check_drawing(&drawing);
    check_drawing(&game.drawing(state, Viewpoint::All, names));
    let mut after_apply = other.clone();
    game.apply(&mut after_apply, &[]);
}

/// Checks what each seat is shown, also while it is not to move: its frame reveals nothing hidden and has the keys of the whole
/// frame, and all its legal answers are legal.
fn check_seats<G: Game + View>(game: &G, state: &G::State, rng: &mut FastRng) {
    let keys = |frame: &Json| -> Vec<String> {
        frame.as_object().map(|fields| fields.keys().cloned().collect()).unwrap_or_default()
    };
    let whole = keys(&game.frame(state));
    let to_move = game.to_move(state);
    // All seats of a small game, about four of a large one.
    let one_in = (game.seats() / 4).max(1) as u32;
    for seat in Seat::all(game.seats()) {
        if rng.below(one_in) > 0 {
            continue;
        }
        let shown = game.seat_frame(state, seat);
        assert_eq!(keys(&shown), whole, "the frame of seat {seat} has another shape");
        let other = game.resample(state, seat, rng);
        assert_eq!(shown, game.seat_frame(&other, seat), "the frame of seat {seat} depends on hidden state");
        let legal = game.legal_answers(state, seat);
        assert_eq!(legal.is_empty(), !to_move.contains(seat), "legal answers of seat {seat}");
        assert!(legal.len() <= MAX_LEGAL_ANSWERS, "seat {seat} has {} legal answers", legal.len());
        let mut tokens = HashSet::new();
        for &answer in &legal {
            assert_eq!(game.check(state, seat, answer), Ok(()), "legal answer {answer:?} is not legal");
            let mut token = Vec::new();
            G::write_answer(answer, &mut token);
            assert!(tokens.insert(token), "legal answer {answer:?} is listed twice");
        }
    }
}

/// Applies each fault to each seat of this turn, and too few replies. The game must continue or end consistently.
fn check_faults<G: Game + View>(game: &G, state: &G::State, replies: &[Reply<G::Answer>]) {
    for fault in Fault::ALL {
        for i in 0..replies.len().min(4) {
            let mut with_fault = replies.to_vec();
            with_fault[i] = Reply::Fault(fault);
            let mut next = state.clone();
            game.apply(&mut next, &with_fault);
            assert_eq!(game.to_move(&next).is_empty(), game.outcome(&next).is_some(), "after {fault}");
            let mut same = state.clone();
            game.apply(&mut same, &with_fault);
            assert_eq!(game.frame(&next), game.frame(&same), "the same replies give different states");
        }
    }
    let mut short = state.clone();
    game.apply(&mut short, &[]);
    assert_eq!(game.to_move(&short).is_empty(), game.outcome(&short).is_some(), "without replies");
}

fn check_outcome<G: Game>(game: &G, state: &G::State) {
    let outcome = game.outcome(state).expect("the game is over");
    assert_eq!(outcome.seats.len(), game.seats());
    assert!(outcome.seats.iter().any(|s| s.place == 1), "no seat has place 1");
    assert!(
        outcome.seats.iter().all(|s| s.score.is_finite() && (1..=game.seats()).contains(&s.place.into()))
    );
    assert!(!outcome.ended.is_empty());
}
