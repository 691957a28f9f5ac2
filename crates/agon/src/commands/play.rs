//! `agon play GAME BOT BOT...`: plays games and sums them up.

use agon_bots::Failure;
use agon_bots::isolation;
use agon_core::record::{Digest, Record, Recorder, read_all};
use agon_core::{Assets, BotLifetime, ErrorKind, Fault, GameInfo, Seat, Settings, Viewpoint};
use agon_engine::any_game::{AnyGame, MatchSetup, seat_names};
use agon_engine::referee::{GameHooks, PlayedGame};
use agon_engine::turn_log::{MakeTurnLog, TurnLog};
use agon_engine::{GameEvent, PlayerSpec, Reporter, Series, Summary, stats};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value as Json, json};

use crate::atomic_file::{AtomicFile, digest_of};
use crate::cli::{OnOff, Play};
use crate::console::Terminal;
use crate::logs::Logs;
use crate::watch::{self, paint};
use crate::{output, setup};

/// More games than anybody watches are not kept in memory for it.
const WATCHED: usize = 100;
/// How many faults are spelled out under the table.
const FAULTS_SHOWN: usize = 8;

/// What was asked for, understood and checked.
struct Order<'a> {
    args: &'a Play,
    table: Box<dyn AnyGame>,
    settings: Settings,
    assets: Assets,
    seats: Vec<PlayerSpec>,
    seed: u64,
    jobs: usize,
}

/// Plays the games.
pub fn run(args: &Play) -> Result<(), Failure> {
    let order = understand(args)?;
    let mut tally = Tally::new(&order)?;
    let logs = args.logs.as_deref().map(|folder| Logs::into(folder, order.table.info(), &order.seats));
    let logs = logs.transpose()?;
    if order.seats.contains(&PlayerSpec::Human) {
        play_with_human(&order, &mut tally, logs.as_ref())?;
    } else {
        let progress = progress(args);
        let make_log = logs.as_ref().map(|logs| |first| logs.log(first));
        let series = Series {
            game: order.table.as_ref(),
            settings: &order.settings,
            seed: order.seed,
            games: args.games,
            match_games: args.match_games.unwrap_or(args.games),
            seats: &order.seats,
            assets: &order.assets,
            record: tally.keeps_records(),
            jobs: order.jobs,
            pin: order.args.pin == OnOff::On,
            make_log: make_log.as_ref().map(|make| make as &MakeTurnLog<'_>),
        };
        series.play(|played| {
            progress.inc(1);
            tally.add(played)
        })?;
        progress.finish_and_clear();
    }
    tally.finish(&order)
}

fn understand(args: &Play) -> Result<Order<'_>, Failure> {
    let table = agon_engine::any_game(&args.game)?;
    let seed = setup::seed(args.setup.seed.as_deref())?;
    let (settings, assets) = setup::settings(table.info(), &args.setup.settings)?;
    let mut seats = args
        .bots
        .iter()
        .map(|bot| setup::seating(&args.game, bot, args.sandbox))
        .collect::<Result<Vec<_>, _>>()?;
    isolation::hide_other_bots(&mut seats)?;
    table.check_seats(&seats).map_err(agon_engine::any_game::PlayError::from)?;
    table.check_settings(&settings, seats.len(), &assets)?;
    setup::furnish(&args.game, &mut seats, &settings, &assets)?;
    if args.games == 0 || args.match_games == Some(0) {
        return Err(Failure::wrong_use(
            "--games and --match-games: at least one",
            "leave them out to play one game",
        ));
    }
    if args.match_games.is_some() && table.info().lifetime != BotLifetime::Match {
        let what = format!("--match-games: {} is not played in matches", args.game);
        return Err(Failure::wrong_use(what, setup::no_matches_hint()));
    }
    let jobs = setup::jobs(args.jobs)?;
    let plan = MatchSetup { settings: &settings, seed, seats: &seats, assets: &assets };
    setup::try_load(table.as_ref(), &plan)?;
    Ok(Order { args, table, settings, assets, seats, seed, jobs })
}

fn progress(args: &Play) -> ProgressBar {
    if args.games < 2 {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(args.games.into());
    let style = "{bar:40} {pos}/{len} games  {per_sec}  {eta} left";
    bar.with_style(ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Games with a person are played one by one, and end with the whole picture.
fn play_with_human(order: &Order<'_>, tally: &mut Tally, logs: Option<&Logs>) -> Result<(), Failure> {
    struct ShowEnd {
        colour: bool,
    }
    impl Reporter for ShowEnd {
        fn event(&mut self, event: &GameEvent<'_>) {
            if let GameEvent::Over { view: scene, outcome, .. } = event {
                output::note(&format!(
                    "\n{}\n{}",
                    paint::ansi(&scene.picture(Viewpoint::All), self.colour),
                    outcome.ended
                ));
            }
        }
    }
    let colour = output::colour();
    let (mut console, mut show_end) = (Terminal { colour }, ShowEnd { colour });
    let mut recorder = Recorder::new();
    let mut log = logs.map(|logs| logs.log(0));
    let mut room = GameHooks {
        reporter: Some(&mut show_end),
        console: Some(&mut console),
        recorder: Some(&mut recorder),
        log: log.as_mut().map(|log| &mut **log as &mut dyn TurnLog),
    };
    let plan = MatchSetup {
        settings: &order.settings,
        seed: order.seed,
        seats: &order.seats,
        assets: &order.assets,
    };
    let mut result = Ok(());
    order.table.play(&plan, 0..order.args.games, &mut room, &mut |played| {
        if result.is_ok() {
            result = tally.add(played);
        }
    })?;
    result
}

/// What comes of the games.
struct Tally {
    names: Vec<String>,
    summary: Summary,
    digests: Vec<Digest>,
    /// Short results, for JSON and for a single game.
    results: Vec<Json>,
    ended: String,
    faults: Vec<String>,
    watched: Vec<Record>,
    file: Option<AtomicFile>,
    keep: bool,
    watch: bool,
    json: bool,
}

impl Tally {
    fn new(order: &Order<'_>) -> Result<Self, Failure> {
        let args = order.args;
        let file = args.record.as_deref().map(|path| AtomicFile::create(path, "the record")).transpose()?;
        Ok(Self {
            names: seat_names(&order.seats),
            summary: Summary::default(),
            digests: Vec::new(),
            results: Vec::new(),
            ended: String::new(),
            faults: Vec::new(),
            watched: Vec::new(),
            keep: file.is_some() || args.watch || args.json || args.games == 1,
            file,
            watch: args.watch,
            json: args.json,
        })
    }

    const fn keeps_records(&self) -> bool {
        self.keep
    }

    fn add(&mut self, played: PlayedGame) -> Result<(), Failure> {
        self.summary.push(&played);
        for fault in &played.faults {
            if self.faults.len() < FAULTS_SHOWN {
                let name = &self.names[fault.seat.index()];
                let (game, turn, report) = (played.index + 1, fault.turn, &fault.report);
                self.faults
                    .push(format!("game {game}, turn {turn}, {name}: {}: {}", report.fault, report.message));
            }
        }
        if self.json {
            self.results.push(json!({
                "game": played.index,
                "seed": played.seed.to_string(),
                "turns": played.turns,
                "scores": played.outcome.seats.iter().map(|s| s.score).collect::<Vec<_>>(),
                "places": played.outcome.seats.iter().map(|s| s.place).collect::<Vec<_>>(),
                "ended": played.outcome.ended,
                "digest": played.record.as_ref().map(|(_, digest)| digest),
            }));
        }
        if let Some((bytes, digest)) = &played.record {
            self.digests.push(*digest);
            if let Some(file) = &mut self.file {
                file.add(bytes)?;
            }
            if self.watch && self.watched.len() < WATCHED {
                self.watched.extend(read_all(bytes).unwrap_or_default());
            }
        }
        self.ended = played.outcome.ended.into_owned();
        Ok(())
    }

    fn finish(mut self, order: &Order<'_>) -> Result<(), Failure> {
        if let Some(file) = self.file.take() {
            file.finish()?;
        }
        if self.json {
            return output::print_json("play", self.json(order));
        }
        if self.watch {
            let films: Result<Vec<_>, _> =
                self.watched.drain(..).map(|record| order.table.film(record, &order.assets)).collect();
            let films = films.map_err(|e| Failure { kind: ErrorKind::Internal, message: e.to_string() })?;
            watch::watch(order.table.info(), &films, order.args.every)?;
        }
        output::print(&self.text(order))
    }

    fn text(&self, order: &Order<'_>) -> String {
        let info = order.table.info();
        let games = if self.summary.games == 1 {
            "1 game".to_owned()
        } else {
            format!("{} games", self.summary.games)
        };
        let mut text = format!("{}: {games}, seed {}\n", info.title, order.seed);
        text += &summary_table(info, &self.names, &self.summary);
        if self.summary.games == 1 {
            text += &format!("ended: {} after {} turns\n", self.ended, self.summary.turns);
        }
        for fault in &self.faults {
            text += &format!("fault: {fault}\n");
        }
        let faults: u64 = self.summary.seats.iter().flat_map(|s| s.faults).sum();
        if faults > self.faults.len() as u64 {
            text += &format!("fault: and {} more\n", faults - self.faults.len() as u64);
        }
        if let Some(digest) = digest_of(&self.digests) {
            text += &format!("digest: {digest}\n");
        }
        if let Some(path) = &order.args.record {
            text += &format!("record: {}\n", path.display());
        }
        if let Some(folder) = &order.args.logs {
            text += &format!("logs: {}\n", folder.display());
        }
        text
    }

    fn json(&self, order: &Order<'_>) -> Json {
        json!({
            "game": order.table.info().id,
            "seed": order.seed.to_string(),
            "settings": order.settings,
            "games": self.summary.games,
            "seats": summary_json(order, &self.names, &self.summary),
            "results": self.results,
            "digest": digest_of(&self.digests),
            "record": order.args.record,
            "logs": order.args.logs,
        })
    }
}

/// The table under a series: a row for each seat.
fn summary_table(info: &GameInfo, names: &[String], summary: &Summary) -> String {
    let roles = info.roles.len() > 1;
    let stat_titles: Vec<String> = info.stats.iter().map(|stat| format!(">{}", stat.name)).collect();
    let score_title = format!(">{} {}", info.score.name, info.score.unit);
    let mut titles = vec![">Seat", "Bot"];
    titles.extend(roles.then_some("Role"));
    titles.extend([score_title.trim_end(), ">Wins"]);
    titles.extend(stat_titles.iter().map(String::as_str));
    titles.extend(["Faults", ">Time per answer", ">Longest"]);
    let rows = Seat::all(names.len()).zip(&summary.seats).map(|(seat, s)| {
        let mut row = vec![seat.to_string(), names[seat.index()].clone()];
        row.extend(roles.then(|| info.role(seat).name.to_owned()));
        row.push(output::estimate(s.score.estimate(), info.score.decimals));
        row.push(wins(s.wins, summary.games));
        row.extend(
            info.stats.iter().zip(&s.stats).map(|(stat, x)| output::estimate(x.estimate(), stat.decimals)),
        );
        row.push(faults(s.faults));
        row.push(output::time(s.time_per_answer()));
        row.push(output::time(s.longest));
        row
    });
    output::table(&titles, rows.collect())
}

fn wins(wins: f64, games: u64) -> String {
    if games == 1 {
        format!("{wins:.2}").trim_end_matches(".00").to_owned()
    } else {
        output::per_cent(stats::share_estimate(wins, games))
    }
}

/// `none`, or `3 illegal, 1 crash`.
pub fn faults(counts: [u64; 4]) -> String {
    let some: Vec<String> = Fault::ALL
        .iter()
        .zip(counts)
        .filter(|(_, n)| *n > 0)
        .map(|(fault, n)| format!("{n} {fault}"))
        .collect();
    if some.is_empty() { "none".to_owned() } else { some.join(", ") }
}

fn summary_json(order: &Order<'_>, names: &[String], summary: &Summary) -> Json {
    let info = order.table.info();
    let seats = Seat::all(names.len()).zip(&summary.seats).map(|(seat, s)| {
        let stats: serde_json::Map<_, _> = info
            .stats
            .iter()
            .zip(&s.stats)
            .map(|(stat, x)| (stat.name.to_owned(), json!(x.estimate())))
            .collect();
        let faults: serde_json::Map<_, _> =
            Fault::ALL.iter().zip(s.faults).map(|(fault, n)| (fault.name().to_owned(), json!(n))).collect();
        json!({
            "seat": seat,
            "name": names[seat.index()],
            "bot": order.seats[seat.index()].spec(),
            "role": info.role(seat).name,
            "score": s.score.estimate(),
            "wins": s.wins,
            "win_share": stats::share_estimate(s.wins, summary.games),
            "stats": stats,
            "faults": faults,
            "answers": s.answers,
            "time_us": {
                "mean": output::micros(s.time_per_answer()),
                "longest": output::micros(s.longest),
                "wall": output::micros(s.time.wall),
                "cpu": output::micros(s.time.cpu),
                "wait": output::micros(s.time.wait),
            },
        })
    });
    seats.collect()
}
