//! The suite every game must pass: random play that never panics, answers that are legal or refused with
//! reasons, observations that leak nothing, faults at every turn. For tests only, so a broken promise panics.
//!
//! Recording and replaying the same games is checked one crate further on, by the engine's tests.

#![allow(clippy::expect_used, clippy::missing_panics_doc, reason = "a test suite fails by panicking")]

use serde_json::Value as Json;

use crate::assets::Assets;
use crate::fault::Fault;
use crate::frame;
use crate::game::{Game, House, View};
use crate::picture::Eye;
use crate::player::Reply;
use crate::random::QuickRng;
use crate::seat::Seat;
use crate::settings::Settings;

/// Settings (name and text) and number of seats of one game.
pub type Drawn = (Vec<(&'static str, String)>, usize);

/// What to play.
pub struct Plan {
    /// How many games of random play.
    pub games: u32,
    /// Settings and number of seats of a game, drawn at random: keep games short here.
    pub settings: fn(&mut QuickRng) -> Drawn,
    /// No game may have more turns.
    pub max_turns: u32,
}

/// Plays the plan and panics at the first broken promise.
pub fn check<G: Game + View + House>(plan: &Plan) {
    check_info::<G>();
    check_garbage::<G>();
    for number in 0..plan.games {
        let mut rng = QuickRng::new(0x00A6_0000 + u64::from(number));
        let (pairs, seats) = (plan.settings)(&mut rng);
        let pairs = pairs.iter().map(|(name, text)| (*name, text.as_str()));
        let settings = Settings::parse(G::info().settings, pairs).expect("the plan's settings are valid");
        let seed = rng.next_u64();
        let (settings, seed) = G::in_series(&settings, seed, rng.below(3));
        let game = G::new(&settings, seats, &Assets::none()).expect("the plan's settings are valid");
        assert_eq!(game.seats(), seats);
        // Faults are rare enough that most games go the distance, and at every turn in some.
        let fault_one_in = [u32::MAX, 200, 20, 3][number as usize % 4];
        play(&game, seed, &mut rng, fault_one_in, plan.max_turns, number % 8 == 0);
    }
}

fn check_info<G: Game + House>() {
    let info = G::info();
    assert!(info.seats.min >= 2 && info.seats.max <= crate::MAX_SEATS && info.seats.min <= info.seats.max);
    assert!(
        info.roles.len() == 1 || info.roles.len() == info.seats.max,
        "one role for all, or one for each seat"
    );
    assert!(!info.requests.is_empty() && info.stats.len() <= crate::outcome::MAX_STATS);
    for (i, bot) in G::bots().iter().enumerate() {
        assert!(!bot.thinks.is_empty(), "{} says how it thinks", bot.name);
        assert!(
            bot.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'),
            "{}",
            bot.name
        );
        assert!(!G::bots()[..i].iter().any(|other| other.name == bot.name), "{} is there twice", bot.name);
        assert!(Seat::all(info.seats.max).any(|seat| bot.plays(seat)), "{} can sit nowhere", bot.name);
    }
    for role in info.roles {
        let bots = G::bots().iter().filter(|b| b.roles.is_empty() || b.roles.contains(&role.name)).count();
        assert!(bots >= 5, "at least five house bots for the role {}, not {bots}", role.name);
    }
}

/// Whatever text comes in, reading it neither panics nor takes it for an answer it does not write back.
fn check_garbage<G: Game>() {
    let mut rng = QuickRng::new(5);
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
            assert!(!reason.is_empty(), "a reason for {text:?}");
        }
    }
}

fn round_trip<G: Game>(answer: G::Answer) -> G::Answer {
    let mut token = Vec::new();
    G::write_answer(answer, &mut token);
    let token = String::from_utf8(token).expect("ASCII");
    let plain = |c: char| c.is_ascii_graphic() && c != '"' && c != '\\';
    assert!(!token.is_empty() && token.chars().all(plain), "{token:?} goes into a record as it is");
    assert!(!token.starts_with(['!', '-']), "{token:?} would be read as a fault");
    G::read_answer(&token).expect("what was written can be read")
}

fn play<G: Game + View>(
    game: &G,
    seed: u64,
    rng: &mut QuickRng,
    fault_one_in: u32,
    max_turns: u32,
    closely: bool,
) {
    let names: Vec<String> = (0..game.seats()).map(|i| format!("bot-{i}")).collect();
    let mut state = game.start(seed);
    assert_eq!(game.frame(&state), game.frame(&game.start(seed)), "one seed, one start");
    let mut shown = game.frame(&state);
    for turn in 0.. {
        let to_move = game.to_move(&state);
        assert_eq!(to_move.is_empty(), game.outcome(&state).is_some(), "over means a result, at turn {turn}");
        if to_move.is_empty() {
            break;
        }
        assert!(turn < max_turns, "no end after {turn} turns");
        let look = closely || rng.below(16) == 0;
        let mut replies = Vec::new();
        for seat in to_move {
            assert!(seat.index() < game.seats());
            assert!(game.request(&state, seat) < G::info().requests.len());
            assert_eq!(game.request(&state, seat), G::asked(&game.observe(&state, seat)));
            if look {
                check_nothing_hidden(game, &state, seat, rng, &names);
            }
            let answer = game.sample(&state, seat, rng).expect("a seat to move has a legal answer");
            assert_eq!(game.check(&state, seat, answer), Ok(()), "{answer:?} was offered as legal");
            assert_eq!(round_trip::<G>(answer), answer);
            let fault = Fault::ALL[rng.below(4) as usize];
            replies.push(if rng.below(fault_one_in) == 1 {
                Reply::Fault(fault)
            } else {
                Reply::Answer(answer)
            });
        }
        if look {
            check_faults(game, &state, &replies);
        }
        game.apply(&mut state, &replies);
        if closely {
            let next = game.frame(&state);
            let delta = frame::diff(&shown, &next);
            frame::patch(&mut shown, &delta);
            assert_eq!(shown, next, "frame and delta give the next frame");
        }
    }
    let frame = game.frame(&state);
    game.apply(&mut state, &[]);
    assert_eq!(frame, game.frame(&state), "nothing moves after the end");
    check_outcome(game, &state);
    assert!(!game.picture(&state, Eye::All, &names).plain().is_empty());
}

fn observation<G: Game>(game: &G, state: &G::State, seat: Seat) -> Json {
    serde_json::to_value(game.observe(state, seat)).expect("an observation is JSON")
}

fn check_nothing_hidden<G: Game + View>(
    game: &G,
    state: &G::State,
    seat: Seat,
    rng: &mut QuickRng,
    names: &[String],
) {
    let other = game.resample(state, seat, rng);
    assert_eq!(
        observation(game, state, seat),
        observation(game, &other, seat),
        "seat {seat} sees what is hidden"
    );
    let eye = Eye::Seat(seat);
    assert_eq!(
        game.picture(state, eye, names),
        game.picture(&other, eye, names),
        "seat {seat}'s picture leaks"
    );
    let mut again = other.clone();
    game.apply(&mut again, &[]);
}

/// Each fault at each seat of this turn, and too few replies: the game goes on or ends by its rules.
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
            assert_eq!(game.frame(&next), game.frame(&same), "same replies, same game");
        }
    }
    let mut short = state.clone();
    game.apply(&mut short, &[]);
    assert_eq!(game.to_move(&short).is_empty(), game.outcome(&short).is_some(), "without replies");
}

fn check_outcome<G: Game>(game: &G, state: &G::State) {
    let outcome = game.outcome(state).expect("the game is over");
    assert_eq!(outcome.seats.len(), game.seats());
    assert!(outcome.seats.iter().any(|s| s.place == 1), "somebody is first");
    assert!(
        outcome.seats.iter().all(|s| s.score.is_finite() && (1..=game.seats()).contains(&s.place.into()))
    );
    assert!(!outcome.ended.is_empty());
}
