//! `agon trial GAME BOT...`: measures the time of each bot's moves, and profiles a Python bot.

use std::sync::atomic::AtomicU32;
use std::time::Duration;

use agon_bots::PrepareContext;
use agon_bots::debug_line::{GameOptions, play_and_debug_line};
use agon_bots::error::Diagnostic;
use agon_core::record::{Recorder, read_all};
use agon_core::sanitize::one_line;
use agon_core::text_format::plural;
use agon_core::{Assets, BotLifetime, ClockRule, GameInfo, Seat, Settings};
use agon_engine::PlayerSpec;
use agon_engine::any_game::{AnyGame, MatchSetup, PlayError, hooks_with_recorder, seat_names};
use agon_engine::referee::GameHooks;
use agon_host::Program;
use agon_host::interactive::with_module;
use agon_host::python_script;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value as Json, json};

use super::bot_timings::{BotTimings, PlacedFault};
use super::play::faults_text;
use super::profile::{self, Profile};
use crate::args::Trial;
use crate::output_file::OutputFile;
use crate::{output, setup, stop_requests};

/// The checked arguments.
struct TrialJob<'a> {
    args: &'a Trial,
    table: Box<dyn AnyGame>,
    settings: Settings,
    assets: Assets,
    seed: u64,
    clock: ClockRule,
    /// One lineup for each bot in each role that it can play.
    lineups: Vec<TrialLineup>,
}

/// One bot in one role, with its opponents.
struct TrialLineup {
    seats: Vec<PlayerSpec>,
    seat: Seat,
}

/// Times the bots.
pub fn run(args: &Trial) -> Result<(), Diagnostic> {
    let job = parse(args)?;
    // A bot that cannot be profiled, or a file that cannot be written, is reported before any game.
    let wanted = match args.profile.as_deref() {
        Some(path) => Some((job.python_bot()?, OutputFile::create(path, "the profile")?)),
        None => None,
    };
    let stop = stop_requests::count()?;
    let progress = progress(&job);
    let mut timings = Vec::new();
    for one in &job.lineups {
        if !stop_requests::any(&stop) {
            timings.push(job.play(one, &progress, &stop)?);
        }
    }
    let interrupted = stop_requests::any(&stop);
    progress.finish_and_clear();
    let timings = job.without_roles_it_cannot_play(timings);
    let profile = match wanted {
        None => None,
        Some((program, file)) => {
            let one = timings.first().filter(|one| !one.moves.is_empty() && !interrupted);
            one.map(|one| write_profile(one, &program, file)).transpose()?
        }
    };
    if args.json {
        output::print_json("trial", job.json(&timings, profile.as_ref(), interrupted))?;
    } else {
        output::print(&job.text(&timings, profile.as_ref(), interrupted))?;
    }
    if interrupted {
        // The table says so.
        return Err(Diagnostic::already_shown());
    }
    match timings.iter().find(|one| one.moves.is_empty()) {
        None => Ok(()),
        Some(one) => Err(job.no_answer(one)),
    }
}

fn parse(args: &Trial) -> Result<TrialJob<'_>, Diagnostic> {
    let table = agon_engine::any_game(&args.game)?;
    let info = table.info();
    let seed = setup::seed(args.setup.seed.as_deref())?;
    let (settings, assets) = setup::settings(info, &args.setup.settings)?;
    if args.games == 0 {
        return Err(Diagnostic::wrong_use("--games must be at least 1", "omit it to play ten games"));
    }
    if let Some(role) = args.role.as_deref().filter(|role| info.roles.iter().all(|known| known.name != *role))
    {
        let roles: Vec<&str> = info.roles.iter().map(|role| role.name).collect();
        return Err(Diagnostic::wrong_use(
            format!("--role: {} has no role `{role}`", info.id),
            format!("use one of: {}", roles.join(", ")),
        ));
    }
    if let Some(seats) = args.seats.filter(|seats| !info.seats.allows(*seats)) {
        let what = format!("--seats: {} needs {} seats, not {seats}", info.id, info.seats.describe());
        return Err(Diagnostic::wrong_use(what, format!("--seats {}", info.seats.min)));
    }
    let mut lineups = Vec::new();
    let context = PrepareContext {
        settings: Some((&settings, &assets)),
        ..setup::prepare_context(&args.game, args.sandbox, true)
    };
    for spec in &args.bots {
        let bot = setup::prepare_bot(spec, &context)?.player;
        if bot == PlayerSpec::Human {
            return Err(Diagnostic::wrong_use(
                "a human cannot be timed",
                "name a bot; use `agon play` to play yourself",
            ));
        }
        lineups.extend(lineups_for(args, table.as_ref(), &bot, &context)?);
    }
    let clock = table.clock(&settings, args.seats.unwrap_or(info.seats.min), &assets)?;
    Ok(TrialJob { args, table, settings, assets, seed, clock, lineups })
}

/// Lineups with the bot in each role that it may be able to play.
fn lineups_for(
    args: &Trial,
    table: &dyn AnyGame,
    bot: &PlayerSpec,
    context: &PrepareContext<'_>,
) -> Result<Vec<TrialLineup>, Diagnostic> {
    let (info, house) = (table.info(), table.house_bots());
    let plays = |seat: &Seat| {
        let role = info.role(*seat).name;
        let can = |name: &str| house.iter().any(|one| one.name == name && one.roles.contains(&role));
        let wanted = args.role.as_deref().is_none_or(|wanted| wanted == role);
        wanted && (args.role.is_some() || !matches!(bot, PlayerSpec::House(name) if !can(name)))
    };
    let mut lineups = Vec::new();
    let mut places: Vec<Seat> = Seat::all(info.roles.len().max(1)).filter(plays).collect();
    if places.is_empty() {
        // The house bot does not exist. Seating it gives the error.
        places.push(Seat(0));
    }
    for seat in places {
        let others = Seat::all(args.seats.unwrap_or(info.seats.min)).map(|other| match &args.opponent {
            _ if other == seat => Ok(bot.clone()),
            Some(opponent) => setup::prepare_bot(opponent, context).map(|bot| bot.player),
            None => Ok(weakest(table, other)),
        });
        let seats = others.collect::<Result<Vec<_>, _>>()?;
        if seats.contains(&PlayerSpec::Human) {
            return Err(Diagnostic::wrong_use("--opponent: a human is too slow", "name a bot"));
        }
        table.check_seats(&seats).map_err(PlayError::from)?;
        lineups.push(TrialLineup { seats, seat });
    }
    Ok(lineups)
}

fn weakest(table: &dyn AnyGame, seat: Seat) -> PlayerSpec {
    let role = table.info().role(seat).name;
    let bots = table.house_bots();
    let name = bots.iter().find(|bot| bot.roles.contains(&role)).map_or("random", |bot| bot.name);
    PlayerSpec::House(name.to_owned())
}

fn write_profile(one: &BotTimings, program: &Program, mut file: OutputFile) -> Result<Profile, Diagnostic> {
    let profile = profile::profile_bot(program, &one.films, one.seat, one.cpu)?;
    file.add(&profile.stats)?;
    file.finish()?;
    Ok(profile)
}

fn progress(job: &TrialJob<'_>) -> ProgressBar {
    let bar = ProgressBar::new(u64::from(job.args.games) * job.lineups.len() as u64);
    let style = "{bar:40} {pos}/{len} games  {msg}  {eta} left";
    bar.with_style(ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()))
}

impl TrialJob<'_> {
    fn info(&self) -> &'static GameInfo {
        self.table.info()
    }

    /// The one Python bot to profile.
    fn python_bot(&self) -> Result<Program, Diagnostic> {
        let [one] = self.lineups.as_slice() else {
            let (what, hint) = match self.args.bots.as_slice() {
                [_] => ("--profile: the bot plays several roles", "choose one, such as --role seeker"),
                _ => ("--profile: only one bot can be profiled", "name one bot"),
            };
            return Err(Diagnostic::wrong_use(what, hint));
        };
        let bot = &one.seats[one.seat.index()];
        let program = match bot {
            PlayerSpec::Program(seat) => with_module(&seat.program, "profiling").or_else(|| {
                // A script that speaks the game's text protocol. The profiler's kind is chosen when it runs.
                let is_script =
                    !seat.json_lines && python_script::with_tool(&seat.program, "lines").is_some();
                is_script.then(|| seat.program.clone())
            }),
            _ => None,
        };
        program.ok_or_else(|| {
            Diagnostic::wrong_use(
                format!(
                    "--profile: {} is not a Python bot (a folder, a .py or .py:Class)",
                    one_line(&bot.spec())
                ),
                "use a profiler for that language, such as `perf record` or `python3 -m cProfile`",
            )
        })
    }

    /// Plays the games of one bot in one role. Games run one at a time, because parallel games would disturb the times.
    fn play(
        &self,
        one: &TrialLineup,
        progress: &ProgressBar,
        stop: &AtomicU32,
    ) -> Result<BotTimings, Diagnostic> {
        let name = seat_names(&one.seats).swap_remove(one.seat.index());
        progress.set_message(one_line(&name));
        let seats = one.seats.iter().map(PlayerSpec::spec).collect();
        let mut timings = BotTimings::new(seats, name, one.seat);
        let plan =
            MatchSetup { settings: &self.settings, seed: self.seed, seats: &one.seats, assets: &self.assets };
        let is_match = self.info().lifetime == BotLifetime::Match;
        // All games of a match are played in one step, because the bots live for the whole match.
        let step = if is_match { self.args.games } else { 1 };
        let mut recorder = Recorder::new();
        let stopped = || stop_requests::any(stop);
        for first in (0..self.args.games).step_by(step as usize).take_while(|_| !stopped()) {
            let mut trouble = Ok(());
            let mut room: GameHooks<'_> = hooks_with_recorder(Some(&mut recorder));
            self.table.play_until_stopped(
                &plan,
                first..first + step,
                &mut room,
                &stopped,
                &mut |played| {
                    progress.inc(1);
                    let bytes = played.record.map(|(bytes, _)| bytes).unwrap_or_default();
                    if trouble.is_ok() {
                        trouble = self.add_record(&mut timings, &bytes);
                    }
                },
            )?;
            trouble?;
            // The bot does not run, or does not play this role. More games would give no information.
            if timings.moves.is_empty() {
                progress.inc(u64::from(self.args.games - first).saturating_sub(u64::from(step)));
                break;
            }
        }
        timings.moves.sort_unstable();
        timings.own.sort_unstable();
        Ok(timings)
    }

    fn add_record(&self, timings: &mut BotTimings, bytes: &[u8]) -> Result<(), Diagnostic> {
        for record in read_all(bytes).map_err(Diagnostic::internal)? {
            let film = self.table.film(record, &self.assets).map_err(Diagnostic::internal)?;
            timings.add(film.as_ref(), &self.clock);
            if self.args.profile.is_some() {
                timings.films.push(film);
            }
        }
        Ok(())
    }

    /// Removes roles that a program does not play. A program does not declare its roles: if it answered in one role and never in
    /// another, it does not play the other.
    fn without_roles_it_cannot_play(&self, timings: Vec<BotTimings>) -> Vec<BotTimings> {
        let plays = |spec: &str, timings: &[BotTimings]| {
            timings.iter().any(|one| one.spec == spec && !one.moves.is_empty())
        };
        let idle: Vec<bool> =
            timings.iter().map(|one| one.moves.is_empty() && plays(&one.spec, &timings)).collect();
        let mut kept = Vec::new();
        for (one, idle) in timings.into_iter().zip(idle) {
            if idle {
                let why = one.first_fault.as_ref().map(PlacedFault::text).unwrap_or_default();
                let why = why.lines().next_back().unwrap_or_default();
                output::note(&format!(
                    "note: {} does not play the {}: {why}",
                    one_line(&one.name),
                    self.info().role(one.seat).name
                ));
            } else {
                kept.push(one);
            }
        }
        kept
    }

    fn text(&self, timings: &[BotTimings], profile: Option<&Profile>, interrupted: bool) -> String {
        let info = self.info();
        let games = plural(self.args.games, "game", "games");
        let opponent = self.args.opponent.as_deref().unwrap_or("the weakest house bot");
        let mut text = format!("{}: {games} against {opponent}, seed {}\n", info.title, self.seed);
        let roles = info.roles.len() > 1;
        let mut titles = vec!["Bot"];
        titles.extend(roles.then_some("Role"));
        titles.extend([
            ">Moves",
            "Faults",
            ">Mean",
            ">Min",
            ">p50",
            ">p99",
            ">Max",
            ">CPU mean",
            ">Clock used",
        ]);
        let rows = timings.iter().map(|one| {
            let mut row = vec![one_line(&one.name)];
            row.extend(roles.then(|| info.role(one.seat).name.to_owned()));
            row.extend([one.moves.len().to_string(), faults_text(one.faults)]);
            let time = |time| if one.moves.is_empty() { "-".to_owned() } else { output::time(time) };
            row.extend(one.own_figures().map(time));
            row.extend([time(one.cpu_mean()), format!("{:.2} %", 100.0 * self.clock_used(one))]);
            row
        });
        text += &output::table(&titles, rows.collect());
        if let Some(empty) = timings.iter().find_map(BotTimings::empty_answer) {
            text += &format!("times: without {}, the cost of an empty answer here\n", output::time(empty));
        }
        text += &format!("clock used: {}\n", self.clock_text());
        for one in timings.iter().filter(|one| !one.moves.is_empty()) {
            if let Some(fault) = &one.first_fault {
                let (name, line) = (one_line(&one.name), self.debug_line(one, fault));
                text += &format!("first fault of {name}: {}\n  {line}\n", fault.text());
            }
        }
        if interrupted {
            let games: u32 = timings.iter().map(|one| one.games).sum();
            let wanted = u64::from(self.args.games) * self.lineups.len() as u64;
            text += &format!("stopped: {games} of {wanted} games are played\n");
        }
        match (profile, &self.args.profile) {
            (Some(profile), Some(path)) => text + &profile.text(path),
            _ => text,
        }
    }

    /// The error of a bot that gave no answer.
    fn no_answer(&self, one: &BotTimings) -> Diagnostic {
        let why = one.first_fault.as_ref().map_or_else(|| "it was never asked".to_owned(), PlacedFault::text);
        let what = format!("{} gave no answer: {}", one_line(&one.spec), why.replace('\n', "; "));
        let line = one.first_fault.as_ref().map(|fault| format!("run {}", self.debug_line(one, fault)));
        Diagnostic::rejected(what).hint(line.unwrap_or_default())
    }

    /// The line to paste for a fault: it plays the game again and records it.
    fn debug_line(&self, one: &BotTimings, fault: &PlacedFault) -> String {
        let options = GameOptions {
            info: self.info(),
            settings: &self.args.setup.settings,
            sandbox: self.args.sandbox,
            python: self.args.python.options(),
            match_games: None,
        };
        play_and_debug_line(&options, &one.seats, self.seed, fault.place, &fault.report, setup::current_dir())
    }

    fn limit(&self) -> Duration {
        match &self.clock {
            ClockRule::PerAnswer { limit }
            | ClockRule::Bank { limit, .. }
            | ClockRule::Shared { limit, .. } => *limit,
        }
    }

    fn clock_used(&self, one: &BotTimings) -> f64 {
        one.longest.as_secs_f64() / self.limit().as_secs_f64().max(f64::MIN_POSITIVE)
    }

    fn clock_text(&self) -> String {
        let limit = output::time(self.limit());
        match &self.clock {
            ClockRule::PerAnswer { .. } => format!("longest move; limit {limit} per move"),
            ClockRule::Bank { .. } => format!("all moves of the longest game; limit {limit} per game"),
            ClockRule::Shared { .. } => {
                format!("all moves of the longest game; limit {limit} for all seats together")
            }
        }
    }

    fn json(&self, timings: &[BotTimings], profile: Option<&Profile>, interrupted: bool) -> Json {
        let bots: Vec<Json> = timings.iter().map(|one| one.json(self.info(), self.clock_used(one))).collect();
        json!({
            "game": self.info().id,
            "seed": self.seed.to_string(),
            "settings": self.settings,
            "games": self.args.games,
            "interrupted": interrupted,
            "seats": self.args.seats.unwrap_or(self.info().seats.min),
            "opponent": self.args.opponent,
            "clock": self.clock,
            "bots": bots,
            "profile": profile.map(|profile| profile.json(self.args.profile.as_deref())),
        })
    }
}
