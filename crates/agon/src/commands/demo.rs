//! `agon demo`: a small round of all five games with the house bots.

use agon_core::random::series_seed;
use agon_core::{Assets, Better, GameInfo, Seat, Settings};
use agon_engine::stats::SeatSummary;
use agon_engine::table::Table;
use agon_engine::{Played, Seating, Series};
use agon_venue::Failure;

use crate::cli::Demo;
use crate::{output, setup};

/// How many games each table of a demo plays.
struct Size {
    game: &'static str,
    settings: &'static [(&'static str, &'static str)],
    games: u32,
}

/// Long games are shortened: the demo is to be over before the tea is cold.
const SIZES: &[Size] = &[
    Size { game: "solitude-scramble", settings: &[], games: 400 },
    Size { game: "colour-battle", settings: &[("rounds", "300")], games: 20 },
    Size { game: "connect-five", settings: &[], games: 4 },
    Size { game: "hide-and-seek", settings: &[], games: 4 },
    Size { game: "word-racer", settings: &[], games: 4 },
];

/// Plays them and prints the tables.
pub fn run(args: &Demo) -> Result<(), Failure> {
    let seed = setup::seed(Some(&args.seed))?;
    let jobs = setup::jobs(args.jobs)?;
    for info in agon_games::infos() {
        let table = agon_engine::table(info.id)?;
        let size = SIZES.iter().find(|size| size.game == info.id);
        let pairs = size.map_or(&[][..], |size| size.settings).iter().copied();
        let settings = Settings::parse(info.settings, pairs)?;
        let mut round = Round::new(table.as_ref());
        output::note(&format!("playing {} ...", info.title));
        for (number, seats) in round.groups().into_iter().enumerate() {
            let seats_names: Vec<Seating> =
                seats.iter().map(|&bot| Seating::House(round.bots[bot].name.to_owned())).collect();
            let series = Series {
                table: table.as_ref(),
                settings: &settings,
                seed: series_seed(seed, number as u32),
                games: size.map_or(2, |size| size.games),
                match_games: 4,
                seats: &seats_names,
                assets: &Assets::none(),
                record: false,
                jobs,
                pin: true,
                log: None,
            };
            series.play::<Failure>(|played| {
                round.add(&seats, &played);
                Ok(())
            })?;
        }
        output::print(&round.text())?;
    }
    Ok(())
}

/// Who met whom, and what came of it for each bot.
struct Round {
    info: &'static GameInfo,
    bots: Vec<agon_engine::BotInfo>,
    sums: Vec<(u64, SeatSummary)>,
}

impl Round {
    fn new(table: &dyn Table) -> Self {
        let bots = table.bots();
        Self { info: table.info(), sums: vec![(0, SeatSummary::default()); bots.len()], bots }
    }

    /// Bots by number, for each group that meets: all pairs for two seats, role against role where roles differ,
    /// every run of four neighbours in a circle for four seats, all in one arena where all fit.
    fn groups(&self) -> Vec<Vec<usize>> {
        let n = self.bots.len();
        let plays = |bot: usize, role: usize| self.bots[bot].roles.contains(&self.info.roles[role].name);
        if self.info.roles.len() == 2 {
            let seekers = (0..n).filter(|&bot| plays(bot, 0));
            return seekers
                .flat_map(|a| (0..n).filter(move |&b| plays(b, 1)).map(move |b| vec![a, b]))
                .collect();
        }
        match self.info.seats.max {
            2 => (0..n).flat_map(|a| (a + 1..n).map(move |b| vec![a, b])).collect(),
            max if max >= n => vec![(0..n).collect()],
            max => (0..n)
                .flat_map(|first| {
                    (1..=2).map(move |step| (0..max).map(|k| (first + k * step) % n).collect::<Vec<_>>())
                })
                .filter(|group| (1..group.len()).all(|i| !group[..i].contains(&group[i])))
                .collect(),
        }
    }

    fn add(&mut self, seats: &[usize], played: &Played) {
        for (seat, &bot) in Seat::all(seats.len()).zip(seats) {
            self.sums[bot].0 += 1;
            self.sums[bot].1.push(played, seat);
        }
    }

    fn text(&self) -> String {
        let mut text = format!("\n{}\n", self.info.title);
        for role in self.info.roles {
            let mut rows: Vec<usize> =
                (0..self.bots.len()).filter(|&bot| self.bots[bot].roles.contains(&role.name)).collect();
            let mean = |bot: usize| self.sums[bot].1.score.estimate().mean;
            rows.sort_by(|&a, &b| match role.better {
                Better::Higher => mean(b).total_cmp(&mean(a)),
                Better::Lower => mean(a).total_cmp(&mean(b)),
            });
            let title = if self.info.roles.len() > 1 { role.name } else { "Bot" };
            text += &self.table(title, &rows);
        }
        text
    }

    fn table(&self, who: &str, rows: &[usize]) -> String {
        let score = format!(">{} {}", self.info.score.name, self.info.score.unit);
        let titles = [">Rank", who, score.trim_end(), ">Games", ">Won", ">Time per answer", "How it thinks"];
        let rows = rows.iter().enumerate().map(|(rank, &bot)| {
            let (games, sum) = &self.sums[bot];
            vec![
                (rank + 1).to_string(),
                self.bots[bot].name.to_owned(),
                output::estimate(sum.score.estimate(), self.info.score.decimals),
                games.to_string(),
                format!("{:.0} %", 100.0 * sum.wins / (*games).max(1) as f64),
                output::time(sum.time_per_answer()),
                self.bots[bot].thinks.to_owned(),
            ]
        });
        output::table(&titles, rows.collect())
    }
}
