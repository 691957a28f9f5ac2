//! `agon play GAME BOT BOT...`: plays games and prints a summary.

use agon_bots::{Diagnostic, PrepareContext};
use agon_core::record::{Digest, Record, Recorder, read_all};
use agon_core::{
    Assets, BotLifetime, Fault, GameInfo, Seat, SeatOutcome, SelfDescription, Settings, Viewpoint,
};
use agon_engine::any_game::{AnyGame, FaultsAfterMatch, MatchSetup, seat_names};
use agon_engine::referee::{GameHooks, PlayedGame};
use agon_engine::stats::SeatSummary;
use agon_engine::turn_log::TurnLog;
use agon_engine::{GameEvent, PlayerSpec, Reporter, Summary, stats};
use agon_league::standings::Standings;
use agon_report::table_formats;
use serde_json::{Value as Json, json};

use super::play_series;
use super::play_tables::PlayTables;
use super::play_web;
use crate::args::Play;
use crate::console::Terminal;
use crate::console::step::StepReporter;
use crate::debug_command::DebugCommand;
use crate::logs::Logs;
use crate::output_file::OutputFile;
use crate::record_files::digest_of;
use crate::watch::{self, paint};
use crate::{output, setup};

/// Maximum number of games that are kept in memory for `--watch`.
const MAX_WATCHED_GAMES: usize = 100;
/// Maximum number of faults listed below the table.
const MAX_FAULTS_SHOWN: usize = 8;

/// The checked arguments.
pub struct PlayJob<'a> {
    pub args: &'a Play,
    pub table: Box<dyn AnyGame>,
    pub settings: Settings,
    pub assets: Assets,
    pub seats: Vec<PlayerSpec>,
    pub seed: u64,
    pub jobs: usize,
    /// What the bots say about themselves, in seat order.
    pub says: Vec<SelfDescription>,
}

/// Plays the games.
pub fn run(args: &Play) -> Result<(), Diagnostic> {
    let job = parse(args)?;
    let mut results = PlayResults::new(&job)?;
    let logs = args.logs.as_deref().map(|folder| Logs::into(folder, job.table.info(), &job.seats));
    let logs = logs.transpose()?;
    if args.web {
        results.add(play_web::run(&job)?)?;
        return results.finish(&job, false);
    }
    if args.step || job.seats.contains(&PlayerSpec::Human) {
        play_at_terminal(&job, &mut results, logs.as_ref())?;
        return results.finish(&job, false);
    }
    play_series::run(&job, results, logs.as_ref())
}

fn parse(args: &Play) -> Result<PlayJob<'_>, Diagnostic> {
    let table = agon_engine::any_game(&args.game)?;
    let seed = setup::seed(args.setup.seed.as_deref())?;
    let (settings, assets) = setup::settings(table.info(), &args.setup.settings)?;
    let context = PrepareContext {
        settings: Some((&settings, &assets)),
        ..setup::prepare_context(&args.game, args.sandbox, true)
    };
    let bots = args.bots.iter().map(|bot| setup::prepare_bot(bot, &context));
    let mut bots = bots.collect::<Result<Vec<_>, _>>()?;
    setup::isolate(&mut bots, &context)?;
    let seats: Vec<PlayerSpec> = bots.into_iter().map(|bot| bot.player).collect();
    table.check_seats(&seats).map_err(agon_engine::any_game::PlayError::from)?;
    table.check_settings(&settings, seats.len(), &assets)?;
    if args.games == 0 || args.match_games == Some(0) {
        return Err(Diagnostic::wrong_use(
            "--games and --match-games must be at least 1",
            "omit them to play one game",
        ));
    }
    if args.match_games.is_some() && table.info().lifetime != BotLifetime::Match {
        let what = format!("--match-games: {} is not played in matches", args.game);
        return Err(Diagnostic::wrong_use(what, setup::no_matches_hint()));
    }
    if args.numbers && !table.start_position(&settings, seats.len(), seed, &assets)?.has_numbers {
        return Err(watch::no_numbers(table.info()));
    }
    let jobs = setup::jobs(args.jobs)?;
    let plan = MatchSetup { settings: &settings, seed, seats: &seats, assets: &assets };
    let says = setup::try_load(table.as_ref(), &plan)?;
    Ok(PlayJob { args, table, settings, assets, seats, seed, jobs, says })
}

/// Plays games one by one, with a human or step by step, and shows the full position at the end of each.
fn play_at_terminal(
    job: &PlayJob<'_>,
    results: &mut PlayResults,
    logs: Option<&Logs>,
) -> Result<(), Diagnostic> {
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
    let mut console = Terminal::new(job.table.info().id, colour);
    let (mut show_end, mut step) = (ShowEnd { colour }, StepReporter::new(colour));
    let reporter: &mut dyn Reporter = if job.args.step { &mut step } else { &mut show_end };
    let mut recorder = Recorder::new();
    let mut log = logs.map(|logs| logs.log(0));
    let mut room = GameHooks {
        reporter: Some(reporter),
        console: Some(&mut console),
        persons: None,
        recorder: Some(&mut recorder),
        log: log.as_mut().map(|log| &mut **log as &mut dyn TurnLog),
    };
    let plan = MatchSetup { settings: &job.settings, seed: job.seed, seats: &job.seats, assets: &job.assets };
    let (mut result, mut last_game) = (Ok(()), 0);
    let after_match = job.table.play(&plan, 0..job.args.games, &mut room, &mut |played| {
        last_game = played.index;
        if result.is_ok() {
            result = results.add(played);
        }
    })?;
    results.add_after_match(last_game, &after_match);
    result
}

/// Statistics of each seat in a game, by name.
fn seat_stats(info: &GameInfo, played: &PlayedGame) -> Vec<Json> {
    let seat = |seat: &SeatOutcome| {
        let stats = info.stats.iter().zip(seat.stats);
        stats
            .map(|(stat, value)| (stat.name.to_owned(), json!(value)))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    played.outcome.seats.iter().map(seat).collect()
}

/// Results of the games.
pub struct PlayResults {
    info: &'static GameInfo,
    names: Vec<String>,
    summary: Summary,
    digests: Vec<Digest>,
    /// Short results, for JSON and for a single game.
    results: Vec<Json>,
    ended: String,
    faults: Vec<String>,
    debug: Option<DebugCommand>,
    /// Faults after a match, which cost nothing.
    after_match: Vec<String>,
    watched: Vec<Record>,
    watched_games: usize,
    /// Ranges of the numbers of the games, from 1.
    numbers: Vec<(u32, u32)>,
    file: Option<OutputFile>,
    keep: bool,
    watch: bool,
    json: bool,
    /// The official tables of a series, in a game that has them.
    tables: Option<PlayTables>,
}

impl PlayResults {
    fn new(job: &PlayJob<'_>) -> Result<Self, Diagnostic> {
        let args = job.args;
        let create = |path| {
            if args.force {
                OutputFile::create(path, "the record")
            } else {
                OutputFile::create_new(path, "the record")
            }
        };
        let file = args.record.as_deref().map(create).transpose()?;
        let names = seat_names(&job.seats);
        let tables = (args.games > 1)
            .then(|| PlayTables::new(job.table.info(), &job.seats, &names, &job.says))
            .flatten();
        Ok(Self {
            info: job.table.info(),
            names,
            tables,
            summary: Summary::default(),
            digests: Vec::new(),
            results: Vec::new(),
            ended: String::new(),
            faults: Vec::new(),
            debug: DebugCommand::new(args, job.table.info(), &job.seats, job.seed),
            after_match: Vec::new(),
            watched: Vec::new(),
            watched_games: 0,
            numbers: Vec::new(),
            keep: file.is_some() || args.watch || args.json || args.games == 1,
            file,
            watch: args.watch,
            json: args.json,
        })
    }

    pub const fn keeps_records(&self) -> bool {
        self.keep
    }

    pub fn add(&mut self, played: PlayedGame) -> Result<(), Diagnostic> {
        self.summary.push(&played);
        if let Some(tables) = &mut self.tables {
            tables.add(&played);
        }
        match self.numbers.last_mut() {
            Some((_, last)) if *last == played.index => *last += 1,
            _ => self.numbers.push((played.index + 1, played.index + 1)),
        }
        for fault in &played.faults {
            if self.faults.len() < MAX_FAULTS_SHOWN {
                let name = &self.names[fault.seat.index()];
                let (game, report) = (played.index + 1, &fault.report);
                let when = match fault.turn {
                    _ if fault.is_after_game(played.turns) => "after its end".to_owned(),
                    turn => format!("turn {turn}"),
                };
                let number = self.summary.games as u32;
                let line = self.debug.as_ref().map(|command| command.line(&played, number, fault));
                let line = line.map_or_else(String::new, |line| format!("\n  {line}"));
                self.faults
                    .push(format!("game {game}, {when}, {name}: {}: {}{line}", report.fault, report.message));
            }
        }
        if self.json {
            self.results.push(json!({
                "game": played.index + 1,
                "seed": played.seed.to_string(),
                "turns": played.turns,
                "scores": played.outcome.seats.iter().map(|s| s.score).collect::<Vec<_>>(),
                "stats": seat_stats(self.info, &played),
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
            if self.watch && self.watched_games < MAX_WATCHED_GAMES {
                self.watched_games += 1;
                self.watched.extend(read_all(bytes).unwrap_or_default());
            }
        }
        self.ended = played.outcome.ended.into_owned();
        Ok(())
    }

    /// Adds the faults after a match.
    pub fn add_after_match(&mut self, last_game: u32, faults: &FaultsAfterMatch) {
        for (seat, report) in faults {
            if self.after_match.len() < MAX_FAULTS_SHOWN {
                let (name, game) = (&self.names[seat.index()], last_game + 1);
                self.after_match.push(format!(
                    "after the match that ended with game {game}, {name}: {} (this costs nothing)",
                    report.message
                ));
            }
        }
    }

    /// Records of games that were added since the last call, for `--watch`.
    pub fn take_watched(&mut self) -> Vec<Record> {
        std::mem::take(&mut self.watched)
    }

    /// Completes the record and prints the table. `interrupted` if the user has stopped the series.
    pub fn finish(&mut self, job: &PlayJob<'_>, interrupted: bool) -> Result<(), Diagnostic> {
        // Without a game there is no record: an empty file is not one.
        if let Some(file) = self.file.take().filter(|_| self.summary.games > 0) {
            file.finish()?;
        }
        self.print(job, interrupted)?;
        // The table, which is already on stdout, says that the series was stopped.
        if interrupted { Err(Diagnostic::already_shown()) } else { Ok(()) }
    }

    fn print(&mut self, job: &PlayJob<'_>, interrupted: bool) -> Result<(), Diagnostic> {
        if self.json {
            return output::print_json("play", self.json(job, interrupted));
        }
        if self.watch && !self.watched.is_empty() {
            let films: Result<Vec<_>, _> =
                self.watched.drain(..).map(|record| job.table.film(record, &job.assets)).collect();
            let films = films.map_err(Diagnostic::internal)?;
            watch::watch(job.table.info(), &films, job.args.every, job.args.numbers)?;
        }
        output::print(&self.text(job, interrupted))
    }

    fn text(&self, job: &PlayJob<'_>, interrupted: bool) -> String {
        let info = job.table.info();
        let games = if self.summary.games == 1 {
            "1 game".to_owned()
        } else {
            format!("{} games", self.summary.games)
        };
        let mut text = format!("{}: {games}, seed {}\n", info.title, job.seed);
        text += &summary_table(info, &self.names, &self.summary);
        if let Some(standings) = self.official_tables() {
            text += &table_formats::tables_text(&standings, output::table_width());
        } else if let Some(empty) = self.summary.seats.iter().find_map(SeatSummary::empty_answer) {
            text +=
                &format!("time per answer: without {}, the cost of an empty answer\n", output::time(empty));
        }
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
        for fault in &self.after_match {
            text += &format!("note: {fault}\n");
        }
        if let Some(digest) = digest_of(&self.digests) {
            text += &format!("digest: {digest}\n");
        }
        if interrupted {
            text += &format!("stopped: {} of {} games are played", self.summary.games, job.args.games);
            if self.numbers.len() > 1 {
                let range = |(first, last): &(u32, u32)| {
                    if first == last { first.to_string() } else { format!("{first}-{last}") }
                };
                let ranges: Vec<String> = self.numbers.iter().map(range).collect();
                text += &format!(": {} (the record counts them from 1)", ranges.join(", "));
            }
            text.push('\n');
        }
        if let Some(path) = job.args.record.as_ref().filter(|_| self.summary.games > 0) {
            text += &format!("record: {}\n", path.display());
        }
        if let Some(folder) = &job.args.logs {
            text += &format!("logs: {}\n", folder.display());
        }
        text
    }

    /// The official tables. One game is no tournament, also if the user has stopped the series after it.
    fn official_tables(&self) -> Option<Standings> {
        self.tables.as_ref().filter(|_| self.summary.games > 1).map(PlayTables::standings)
    }

    fn json(&self, job: &PlayJob<'_>, interrupted: bool) -> Json {
        let mut json = json!({
            "game": job.table.info().id,
            "seed": job.seed.to_string(),
            "settings": job.settings,
            "games": self.summary.games,
            "interrupted": interrupted,
            "seats": summary_json(job, &self.names, &self.summary),
            "results": self.results,
            "digest": digest_of(&self.digests),
            "record": job.args.record.as_ref().filter(|_| self.summary.games > 0),
            "logs": job.args.logs,
        });
        if let Some(standings) = self.official_tables() {
            json["tables"] = standings.json()["sheets"].take();
        }
        json
    }
}

/// The table of a series, with a row for each seat.
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
        row.push(faults_text(s.faults));
        row.push(output::time(s.own_time_per_answer()));
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

/// Counts as text: `none`, or `3 illegal, 9 crashes`.
pub fn faults_text(counts: [u64; 4]) -> String {
    let some: Vec<String> =
        Fault::ALL.iter().zip(counts).filter(|(_, n)| *n > 0).map(|(fault, n)| fault.count_text(n)).collect();
    if some.is_empty() { "none".to_owned() } else { some.join(", ") }
}

fn summary_json(job: &PlayJob<'_>, names: &[String], summary: &Summary) -> Json {
    let info = job.table.info();
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
            "bot": job.seats[seat.index()].spec(),
            "role": info.role(seat).name,
            "score": s.score.estimate(),
            "wins": s.wins,
            "win_share": stats::share_estimate(s.wins, summary.games),
            "stats": stats,
            "faults": faults,
            "answers": s.answers,
            "time_us": {
                "mean": output::micros(s.time_per_answer()),
                "own": output::micros(s.own_time_per_answer()),
                "empty": s.empty_answer().map(output::micros),
                "longest": output::micros(s.longest),
                "wall": output::micros(s.time.wall),
                "cpu": output::micros(s.time.cpu),
                "wait": output::micros(s.time.wait),
            },
        })
    });
    seats.collect()
}
