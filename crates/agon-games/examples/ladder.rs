//! Checks that each house bot is better than the one below it. `make ladder`, or for one game
//! `cargo run --release -p agon-games --example ladder -- GAME [SIZE]` (SIZE scales the number of games).
//!
//! With two equal seats, neighbours play each other. With unequal roles, each bot of a role plays all bots of the other role on the
//! same seeds. With more seats, all bots play in one pool. The printed value is the mean difference between neighbours with a
//! 95 % interval; `yes` means that the interval excludes equality.
#![allow(clippy::print_stdout, reason = "the purpose of this program is its output")]

use std::sync::atomic::{AtomicU32, Ordering};

use agon_core::random::{bot_seeds, series_seed};
use agon_core::{
    Assets, Bot, BotLifetime, FastRng, Game, HouseBot, Outcome, Reply, ScoreDirection, Seat, Settings,
};
use agon_games::{GameVisitor, PlayableGame};

fn main() -> std::process::ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let size: f64 = args.get(1).and_then(|s| s.parse().ok()).unwrap_or(1.0);
    let ids = agon_games::infos().into_iter().map(|info| info.id);
    let mut all_hold = true;
    for id in ids.filter(|id| args.first().is_none_or(|wanted| wanted == id || wanted == "all")) {
        all_hold &= agon_games::visit(id, Climb { size }).unwrap_or(false);
    }
    println!("{}", if all_hold { "the order is confirmed" } else { "the order is NOT confirmed" });
    if all_hold { std::process::ExitCode::SUCCESS } else { std::process::ExitCode::FAILURE }
}

struct Climb {
    size: f64,
}

impl GameVisitor for Climb {
    type Output = bool;

    fn visit<G: PlayableGame>(self) -> bool {
        let info = G::info();
        println!("{}", info.title);
        let bots: Vec<&HouseBot<G>> = G::bots().iter().collect();
        if info.roles.len() > 1 {
            info.roles.iter().fold(true, |holds, role| {
                println!("  {}s", role.name);
                let own: Vec<_> = bots.iter().copied().filter(|b| b.roles.contains(&role.name)).collect();
                let seat = info.roles.iter().position(|r| r == role).unwrap_or(0);
                holds & climb_role(&own, &bots, seat, role.better, self.size)
            })
        } else if info.seats.max == 2 {
            climb_duels(&bots, self.size)
        } else {
            climb_pool(&bots, self.size)
        }
    }
}

/// Creates the bots of a match and plays its games one after the other.
fn play_match<G: PlayableGame>(bots: &[&HouseBot<G>], seed: u64, games: u32) -> Vec<Outcome> {
    let defaults = Settings::defaults(G::info().settings);
    let mut players: Vec<Box<dyn Bot<G>>> = Vec::new();
    (0..games)
        .filter_map(|index| {
            if index == 0 || G::info().lifetime != BotLifetime::Match {
                players = bots.iter().map(|bot| (bot.make)()).collect();
            }
            let (settings, seed) = G::series_game(&defaults, seed, index);
            let game = G::new(&settings, bots.len(), &Assets::none()).ok()?;
            let outcome = play(&game, &mut players, seed);
            for player in &mut players {
                player.game_over();
            }
            outcome
        })
        .collect()
}

fn play<G: Game>(game: &G, players: &mut [Box<dyn Bot<G>>], seed: u64) -> Option<Outcome> {
    for (player, seed) in players.iter_mut().zip(bot_seeds(seed)) {
        player.begin(seed);
    }
    let mut state = game.start(seed);
    let mut replies = Vec::new();
    while !game.to_move(&state).is_empty() {
        replies.clear();
        for seat in game.to_move(&state) {
            replies.push(Reply::Answer(players[seat.index()].answer(&game.observe(&state, seat))));
        }
        game.apply(&mut state, &replies);
    }
    game.outcome(&state)
}

/// Runs `count` tasks on all cores and returns the results in order.
fn spread<T: Send>(count: u32, work: impl Fn(u32) -> T + Sync) -> Vec<T> {
    let next = AtomicU32::new(0);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut results: Vec<(u32, T)> = std::thread::scope(|scope| {
        let one = || {
            let mut done = Vec::new();
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                if i >= count {
                    return done;
                }
                done.push((i, work(i)));
            }
        };
        let handles: Vec<_> = (0..cores).map(|_| scope.spawn(one)).collect();
        handles.into_iter().flat_map(|h| h.join().unwrap_or_default()).collect()
    });
    results.sort_by_key(|(i, _)| *i);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Mean and half width of its 95 % interval.
fn interval(values: &[f64]) -> (f64, f64) {
    let n = values.len().max(2) as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, 1.96 * (variance / n).sqrt())
}

fn row(upper: &str, lower: &str, what: &str, differences: &[f64]) -> bool {
    let (mean, half) = interval(differences);
    let holds = mean - half > 0.0;
    println!(
        "  {upper:>16} over {lower:<16} {mean:+9.3} \u{b1} {half:.3} {what}, n = {:<6} {}",
        differences.len(),
        if holds { "yes" } else { "NO" }
    );
    holds
}

fn climb_duels<G: PlayableGame>(bots: &[&HouseBot<G>], size: f64) -> bool {
    // Several games per match give learning bots time to learn.
    let games = if G::info().lifetime == BotLifetime::Match { 6 } else { 2 };
    let matches = (120.0 * size) as u32;
    let mut holds = true;
    for pair in bots.windows(2) {
        let differences = spread(matches, |i| {
            let outcomes = play_match(&[pair[1], pair[0]], series_seed(2026, i), games);
            let sum: f64 = outcomes.iter().map(|o| o.win_share(Seat(0)) - o.win_share(Seat(1))).sum();
            sum / f64::from(games)
        });
        holds &= row(pair[1].name, pair[0].name, "wins a game", &differences);
    }
    holds
}

fn climb_role<G: PlayableGame>(
    own: &[&HouseBot<G>],
    all: &[&HouseBot<G>],
    seat: usize,
    better: ScoreDirection,
    size: f64,
) -> bool {
    let others: Vec<_> = all.iter().copied().filter(|b| b.plays(Seat(1 - seat as u8))).collect();
    let sign = if better == ScoreDirection::Higher { 1.0 } else { -1.0 };
    // Mean score of each bot of the role against all bots of the other role, for each seed.
    let scores = spread((480.0 * size) as u32, |i| {
        let mean_of = |bot: &&HouseBot<G>| {
            let total: f64 = others
                .iter()
                .map(|other| {
                    let table = if seat == 0 { [*bot, *other] } else { [*other, *bot] };
                    play_match(&table, series_seed(2026, i), 1).first().map_or(0.0, |o| o.seats[seat].score)
                })
                .sum();
            sign * total / others.len() as f64
        };
        own.iter().map(mean_of).collect::<Vec<f64>>()
    });
    (1..own.len()).fold(true, |holds, k| {
        let differences: Vec<f64> = scores.iter().map(|s| s[k] - s[k - 1]).collect();
        holds & row(own[k].name, own[k - 1].name, G::info().score.name, &differences)
    })
}

fn climb_pool<G: PlayableGame>(bots: &[&HouseBot<G>], size: f64) -> bool {
    let seats = bots.len().min(G::info().seats.max);
    // Blocks of many games make the difference of a block nearly normal.
    let (blocks, rounds) =
        if seats < bots.len() { (400, (250.0 * size) as u32) } else { ((1000.0 * size) as u32, 1) };
    let means = spread(blocks, |block| {
        let mut rng = FastRng::new(u64::from(block));
        let mut order: Vec<usize> = (0..bots.len()).collect();
        let (mut sum, mut count) = (vec![0.0; bots.len()], vec![0.0; bots.len()]);
        for round in 0..rounds {
            rng.shuffle(&mut order);
            let table: Vec<_> = order[..seats].iter().map(|&b| bots[b]).collect();
            let seed = series_seed(2026 + u64::from(block), round);
            for outcome in play_match(&table, seed, 1) {
                for (seat, &bot) in order[..seats].iter().enumerate() {
                    sum[bot] += outcome.seats[seat].score;
                    count[bot] += 1.0;
                }
            }
        }
        (0..bots.len()).map(|b| sum[b] / f64::max(count[b], 1.0)).collect::<Vec<f64>>()
    });
    for (k, bot) in bots.iter().enumerate() {
        let own: Vec<f64> = means.iter().map(|m| m[k]).collect();
        let (mean, half) = interval(&own);
        println!("  {:>16} {mean:9.3} \u{b1} {half:.3} {}", bot.name, G::info().score.name);
    }
    (1..bots.len()).fold(true, |holds, k| {
        let differences: Vec<f64> = means.iter().map(|m| m[k] - m[k - 1]).collect();
        holds & row(bots[k].name, bots[k - 1].name, G::info().score.name, &differences)
    })
}
