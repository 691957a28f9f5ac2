//! Leagues of simulated bots with known strengths, for tests of tables and statistics.

use agon_core::random::FastRng;
use agon_core::{GameInfo, Outcome};
use agon_games::infos;

use crate::config::{EntrantBot, EntrantMark, EntrantSpec};
use crate::result::{Entrant, FixedPoint, GameResult, MatchKey, MatchResult, SeatResult};
use crate::tally::Tally;

/// A simulated league.
pub struct League {
    /// The game played.
    pub game: &'static GameInfo,
    /// The entrants.
    pub entrants: Vec<EntrantSpec>,
    /// Results of all matches.
    pub results: Vec<MatchResult>,
}

impl League {
    /// Tally of all results.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::new(self.game);
        self.results.iter().for_each(|result| tally.add(result));
        tally
    }
}

/// The game with this id.
///
/// # Panics
/// If there is no such game.
pub fn game(id: &str) -> &'static GameInfo {
    infos().into_iter().find(|info| info.id == id).unwrap_or_else(|| panic!("no game `{id}`"))
}

/// Entrants from texts `NAME` or `NAME by CONTRIBUTOR`.
pub fn entrants(names: &[&str]) -> Vec<EntrantSpec> {
    let entrant = |text: &&str| {
        let (name, contributor) =
            text.split_once(" by ").map_or((*text, None), |(name, by)| (name, Some(by)));
        EntrantSpec {
            name: name.to_owned(),
            name_given: true,
            bot: EntrantBot::Spec(format!("{name}.py")),
            contributor: contributor.map(ToOwned::to_owned),
            marks: Vec::new(),
            role: None,
        }
    };
    names.iter().map(entrant).collect()
}

/// A seat result with this score and place.
pub fn seat(entrant: u32, score: f64, place: u8) -> SeatResult {
    SeatResult {
        entrant: Entrant(entrant),
        score: FixedPoint::from_f64(score),
        place,
        stats: [FixedPoint::ZERO; 3],
        answers: 10,
        faults: [0; 4],
        thought_ns: 1_000 * u64::from(entrant + 1) * 10,
        longest_ns: 5_000 * u64::from(entrant + 1),
        meter: None,
        empty_ns: 0,
    }
}

/// A game in which the higher score wins.
pub fn game_of(seats: &[(u32, f64)]) -> GameResult {
    let scores: Vec<f64> = seats.iter().map(|&(_, score)| score).collect();
    let outcome = Outcome::ranked(&scores, "played out");
    let seats = seats.iter().zip(&outcome.seats).map(|(&(entrant, score), o)| seat(entrant, score, o.place));
    GameResult {
        part: 0,
        seed: 0,
        turns: 10,
        ended: "played out".to_owned(),
        match_lost_by: None,
        seats: seats.collect(),
    }
}

/// A match with one game.
pub fn match_of(seats: &[(u32, f64)], points: &[f64]) -> MatchResult {
    MatchResult {
        key: MatchKey { phase: 0, stage: 0, number: 0 },
        games: vec![game_of(seats)],
        points: points.iter().map(|&x| FixedPoint::from_f64(x)).collect(),
    }
}

/// A random number with mean 0 and standard deviation 1 (sum of twelve uniform numbers).
pub fn noise(rng: &mut FastRng) -> f64 {
    (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0
}

/// Whether the first wins, drawn by the Bradley-Terry model of two strengths.
pub fn beats(rng: &mut FastRng, one: f64, other: f64) -> bool {
    rng.unit() < 1.0 / (1.0 + (other - one).exp())
}

/// Random groups of four, one game per match, whole points around the strength.
pub fn groups_of_four(id: &str, strengths: &[f64], rounds: usize, seed: u64) -> League {
    let mut rng = FastRng::new(seed);
    let mut order: Vec<u32> = (0..strengths.len() as u32).collect();
    let mut results = Vec::new();
    for _ in 0..rounds {
        rng.shuffle(&mut order);
        for four in order.chunks_exact(4) {
            let points =
                |&bot: &u32| (bot, (strengths[bot as usize] + 4.0 * noise(&mut rng)).round().max(0.0));
            let seats: Vec<(u32, f64)> = four.iter().map(points).collect();
            results.push(match_of(&seats, &[]));
        }
    }
    let names: Vec<String> = (1..=strengths.len()).map(|n| format!("bot_{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    League { game: game(id), entrants: entrants(&names), results }
}

/// All in one arena; the shares of tiles add up to less than 100 %.
pub fn arena(id: &str, names: &[&str], games: usize, seed: u64) -> League {
    let mut rng = FastRng::new(seed);
    let tiles = 64.0 * names.len() as f64;
    let mut results = Vec::new();
    for _ in 0..games {
        let shares = (0..names.len() as u32).map(|bot| {
            let mine = 50.0 + 8.0 * f64::from(bot % 7) + 6.0 * noise(&mut rng);
            (bot, 100.0 * mine.round().max(0.0) / tiles)
        });
        let mut result = match_of(&shares.collect::<Vec<_>>(), &[]);
        for seat in &mut result.games[0].seats {
            seat.thought_ns = 2_500 * u64::from(seat.entrant.0 + 1) * u64::from(seat.answers);
        }
        results.push(result);
    }
    League { game: game(id), entrants: entrants(names), results }
}

/// Home and away, two parts per match.
pub fn home_and_away(id: &str, names: &[&str], seed: u64) -> League {
    let mut rng = FastRng::new(seed);
    let mut results = Vec::new();
    for home in 0..names.len() as u32 {
        for away in (0..names.len() as u32).filter(|&away| away != home) {
            let mut result = MatchResult { games: Vec::new(), ..match_of(&[], &[]) };
            let mut points = 0.0;
            for (part, first_to) in [(0, 5), (1, 3)] {
                let mut wins = [0, 0];
                while wins.iter().all(|&won| won < first_to) {
                    let won = beats(&mut rng, 0.3 * f64::from(away), 0.3 * f64::from(home));
                    wins[usize::from(!won)] += 1;
                    let score = f64::from(u8::from(won));
                    result.games.push(GameResult { part, ..game_of(&[(home, score), (away, 1.0 - score)]) });
                }
                points += if wins[0] > wins[1] { 1.0 } else { -1.0 };
            }
            result.points = vec![FixedPoint::from_f64(points), FixedPoint::from_f64(-points)];
            results.push(result);
        }
    }
    League { game: game(id), entrants: entrants(names), results }
}

/// Two roles: every seeker against every hider on the same seeds; each seed has its own luck.
pub fn cross(id: &str, seekers: &[&str], hiders: &[&str], seeds: u64, seed: u64) -> League {
    let mut rng = FastRng::new(seed);
    let mut results = Vec::new();
    for game_seed in 0..seeds {
        let luck = 1.0 - rng.unit();
        for seeker in 0..seekers.len() as u32 {
            for hider in 0..hiders.len() as u32 {
                let skill = 40.0 * f64::from(seeker + 1) * (1.0 + 0.5 * f64::from(hider));
                let steps = (-luck.ln() * skill * (0.5 + rng.unit())).ceil().clamp(1.0, 4000.0);
                let mut result = match_of(&[(seeker, steps), (seekers.len() as u32 + hider, steps)], &[]);
                result.games[0].seed = game_seed;
                let caught = steps < 4000.0;
                result.games[0].seats[0].place = if caught { 1 } else { 2 };
                result.games[0].seats[1].place = if caught { 2 } else { 1 };
                results.push(result);
            }
        }
    }
    let mut all = entrants(&[seekers, hiders].concat());
    for (number, entrant) in all.iter_mut().enumerate() {
        entrant.role = Some(game(id).roles[usize::from(number >= seekers.len())].name);
    }
    let mark = |mark: &str, note: &str| EntrantMark { mark: mark.to_owned(), note: Some(note.to_owned()) };
    all[0].marks.push(mark("AI", "the path search was written with an assistant"));
    if let Some(last) = all.last_mut() {
        last.marks.push(mark("exploit", "reads the map's seed off the walls"));
    }
    League { game: game(id), entrants: all, results }
}

/// Each pair plays once per round, 3 / 1 / 0 points, one game in ten is a draw.
pub fn round_robin(id: &str, strengths: &[f64], rounds: usize, seed: u64) -> League {
    let mut rng = FastRng::new(seed);
    let mut results = Vec::new();
    for _ in 0..rounds {
        for one in 0..strengths.len() as u32 {
            for other in one + 1..strengths.len() as u32 {
                let won = beats(&mut rng, strengths[one as usize], strengths[other as usize]);
                let drawn = rng.below(10) == 0;
                let score = if drawn {
                    [1.0, 1.0]
                } else if won {
                    [3.0, 0.0]
                } else {
                    [0.0, 3.0]
                };
                let mut result = match_of(&[(one, score[0]), (other, score[1])], &[]);
                for (seat, points) in result.games[0].seats.iter_mut().zip(score) {
                    seat.stats[0] = FixedPoint::from_f64((20.0 + 4.0 * points + noise(&mut rng)).round());
                }
                results.push(result);
            }
        }
    }
    let names: Vec<String> = (1..=strengths.len()).map(|n| format!("racer {n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    League { game: game(id), entrants: entrants(&names), results }
}
