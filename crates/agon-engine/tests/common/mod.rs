//! Scripted games: random play with faults is recorded first, then played through the referee.
#![allow(dead_code, reason = "each test file uses only some items")]

use std::collections::VecDeque;
use std::time::Duration;

use agon_core::record::{Record, Recorder, SeatRecord, read_all};
use agon_core::{
    AnswerTimes, Assets, FastRng, Fault, FaultReport, Game, Outcome, Player, Reply, Response, Seat, Settings,
};
use agon_engine::Reporter;
use agon_engine::film::header;
use agon_engine::referee::{self, GameHooks, PlayedGame, SeatedPlayer};
use agon_games::PlayableGame;

/// A bot that gives scripted replies.
pub struct Scripted<G: Game> {
    pub replies: VecDeque<Reply<G::Answer>>,
    pub time: Duration,
}

impl<G: Game> Player<G> for Scripted<G> {
    fn ask(&mut self, _: &G::Observation<'_>, _: Duration) {}

    fn answer(&mut self) -> Response<G::Answer> {
        let reply = match self.replies.pop_front() {
            Some(Reply::Answer(answer)) => Ok(answer),
            Some(Reply::Fault(fault)) => {
                Err(Box::new(FaultReport::new(fault, format!("scripted: \"{fault}\"\n\u{1b}[31m"))))
            }
            None => Err(Box::new(FaultReport::new(Fault::Crash, "the script is over"))),
        };
        Response { reply, times: AnswerTimes { wall: self.time, cpu: self.time, wait: Duration::ZERO } }
    }
}

/// Settings of short games by id: names and values, and number of seats.
pub fn short_settings(id: &str, rng: &mut FastRng) -> (Vec<(&'static str, String)>, usize) {
    match id {
        "solitude-scramble" => (vec![("turns", (1 + rng.below(12)).to_string())], 4),
        "colour-battle" => (vec![("rounds", (1 + rng.below(30)).to_string())], 2 + rng.below(12) as usize),
        "hide-and-seek" => (vec![("steps", (1 + rng.below(120)).to_string())], 2),
        _ => (Vec::new(), 2),
    }
}

/// A game to be played: random settings, random answers, some faults.
pub struct Script<G: Game> {
    pub game: G,
    pub settings: Settings,
    pub seed: u64,
    pub replies: Vec<VecDeque<Reply<G::Answer>>>,
    pub outcome: Outcome,
}

/// Plays the rules at random and stores every reply.
pub fn script<G: PlayableGame>(number: u64, fault_one_in: u32) -> Script<G> {
    let mut rng = FastRng::new(number);
    let (pairs, seats) = short_settings(G::info().id, &mut rng);
    let settings = Settings::parse(G::info().settings, pairs.iter().map(|(n, t)| (*n, t.as_str()))).unwrap();
    let (settings, seed) = G::series_game(&settings, rng.next_u64(), rng.below(4));
    let game = G::new(&settings, seats, &Assets::none()).unwrap();
    let mut state = game.start(seed);
    let mut replies = vec![VecDeque::new(); seats];
    while !game.to_move(&state).is_empty() {
        let turn: Vec<Reply<G::Answer>> = game
            .to_move(&state)
            .map(|seat| {
                let answer = game.sample(&state, seat, &mut rng).unwrap();
                let fault = Fault::ALL[rng.below(4) as usize];
                let reply =
                    if rng.below(fault_one_in) == 1 { Reply::Fault(fault) } else { Reply::Answer(answer) };
                replies[seat.index()].push_back(reply);
                reply
            })
            .collect();
        game.apply(&mut state, &turn);
    }
    let outcome = game.outcome(&state).unwrap();
    Script { game, settings, seed, replies, outcome }
}

/// Plays a script through the referee, with a record.
pub fn referee<G: PlayableGame>(script: &Script<G>, time: Duration) -> PlayedGame {
    watched(script, time, None)
}

/// The same with a reporter.
pub fn watched<G: PlayableGame>(
    script: &Script<G>,
    time: Duration,
    reporter: Option<&mut dyn Reporter>,
) -> PlayedGame {
    let names: Vec<String> = (0..script.replies.len()).map(|i| format!("bot \"{i}\" <é>")).collect();
    let seats =
        names.iter().map(|n| SeatRecord { name: n.clone(), bot: "test".into(), hash: "sha256:0".into() });
    let header = header::<G>(&script.settings, script.seed, seats.collect());
    let player = |replies: &VecDeque<_>| {
        SeatedPlayer::Bot(Box::new(Scripted { replies: replies.clone(), time }) as Box<dyn Player<G>>)
    };
    let mut players: Vec<SeatedPlayer<G>> = script.replies.iter().map(player).collect();
    let mut recorder = Recorder::new();
    // The cast shortens the lifetime of the reference.
    let reporter = reporter.map(|reporter| &mut *reporter as &mut dyn Reporter);
    let mut hooks =
        GameHooks { reporter, console: None, persons: None, recorder: Some(&mut recorder), log: None };
    referee::play(&script.game, 0, &header, &names, &mut players, &mut hooks).unwrap()
}

/// Record of a played game.
pub fn record(played: &PlayedGame) -> Record {
    read_all(&played.record.as_ref().unwrap().0).unwrap().remove(0)
}

/// Number of faults among a seat's replies.
pub fn faults<G: Game>(script: &Script<G>, seat: Seat) -> usize {
    script.replies[seat.index()].iter().filter(|r| matches!(r, Reply::Fault(_))).count()
}
