//! `agon trial GAME BOT...`: how long each bot takes for a move, and where a Python bot spends it.

use std::time::Duration;

use agon_bots::error::Failure;
use agon_core::record::{Recorder, read_all};
use agon_core::{Assets, BotLifetime, ClockRule, ErrorKind, GameInfo, Seat, Settings};
use agon_engine::PlayerSpec;
use agon_engine::any_game::{AnyGame, MatchSetup, PlayError, hooks_with_recorder, seat_names};
use agon_engine::referee::GameHooks;
use agon_host::Program;
use agon_host::interactive::with_module;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value as Json, json};

use super::bot_timings::BotTimings;
use super::play::faults;
use super::profile::{self, Profile};
use crate::atomic_file::AtomicFile;
use crate::cli::Trial;
use crate::logs::one_line;
use crate::{output, setup};

/// What was asked for, understood and checked.
struct Order<'a> {
    args: &'a Trial,
    table: Box<dyn AnyGame>,
    settings: Settings,
    assets: Assets,
    seed: u64,
    clock: ClockRule,
    /// Who sits where, for each bot in each role it can play.
    tries: Vec<Try>,
}

/// One bot in one role, and who it plays with.
struct Try {
    seats: Vec<PlayerSpec>,
    seat: Seat,
}

/// Times them.
pub fn run(args: &Trial) -> Result<(), Failure> {
    let order = understand(args)?;
    // What cannot be profiled, or where it cannot be written, is found before any game.
    let wanted = match args.profile.as_deref() {
        Some(path) => Some((order.python()?, AtomicFile::create(path, "the profile")?)),
        None => None,
    };
    let progress = progress(&order);
    let mut tried = Vec::new();
    for one in &order.tries {
        tried.push(order.play(one, &progress)?);
    }
    progress.finish_and_clear();
    let tried = order.without_roles_it_cannot_play(tried);
    let profile = match wanted {
        None => None,
        Some((program, file)) => {
            let one = tried.first().filter(|one| !one.moves.is_empty());
            one.map(|one| profiled(one, &program, file)).transpose()?
        }
    };
    if args.json {
        output::print_json("trial", order.json(&tried, profile.as_ref()))?;
    } else {
        output::print(&order.text(&tried, profile.as_ref()))?;
    }
    match tried.iter().find(|one| one.moves.is_empty()) {
        None => Ok(()),
        Some(one) => {
            let why = one.first_fault.as_deref().unwrap_or("it was never asked");
            Err(Failure {
                kind: ErrorKind::Rejected,
                message: format!(
                    "{} gave no answer at all: {}",
                    one_line(&one.spec),
                    why.replace('\n', "; ")
                ),
            })
        }
    }
}

fn understand(args: &Trial) -> Result<Order<'_>, Failure> {
    let table = agon_engine::any_game(&args.game)?;
    let info = table.info();
    let seed = setup::seed(args.setup.seed.as_deref())?;
    let (settings, assets) = setup::settings(info, &args.setup.settings)?;
    if args.games == 0 {
        return Err(Failure::wrong_use("--games: at least one", "leave it out to play ten"));
    }
    if let Some(role) = args.role.as_deref().filter(|role| info.roles.iter().all(|known| known.name != *role))
    {
        let roles: Vec<&str> = info.roles.iter().map(|role| role.name).collect();
        return Err(Failure::wrong_use(
            format!("--role: {} has no role `{role}`", info.id),
            format!("its roles are {}", roles.join(", ")),
        ));
    }
    if let Some(seats) = args.seats.filter(|seats| !info.seats.allows(*seats)) {
        let what = format!("--seats: {} is played by {}, not by {seats}", info.id, info.seats.describe());
        return Err(Failure::wrong_use(what, format!("--seats {}", info.seats.min)));
    }
    let mut tries = Vec::new();
    for spec in &args.bots {
        let bot = setup::seating(&args.game, spec, args.sandbox)?;
        if bot == PlayerSpec::Human {
            return Err(Failure::wrong_use(
                "a person cannot be timed",
                "name a bot; `agon play` lets you play",
            ));
        }
        tries.extend(seats_for(args, table.as_ref(), &bot)?);
    }
    let clock = table.clock(&settings, args.seats.unwrap_or(info.seats.min), &assets)?;
    Ok(Order { args, table, settings, assets, seed, clock, tries })
}

/// The bot at its seat, others around it: in each role it can play, for all we know.
fn seats_for(args: &Trial, table: &dyn AnyGame, bot: &PlayerSpec) -> Result<Vec<Try>, Failure> {
    let (info, house) = (table.info(), table.house_bots());
    let plays = |seat: &Seat| {
        let role = info.role(*seat).name;
        let can = |name: &str| house.iter().any(|one| one.name == name && one.roles.contains(&role));
        let wanted = args.role.as_deref().is_none_or(|wanted| wanted == role);
        wanted && (args.role.is_some() || !matches!(bot, PlayerSpec::House(name) if !can(name)))
    };
    let mut tries = Vec::new();
    let mut places: Vec<Seat> = Seat::all(info.roles.len().max(1)).filter(plays).collect();
    if places.is_empty() {
        // A house bot that does not exist: seating it says so.
        places.push(Seat(0));
    }
    for seat in places {
        let others = Seat::all(args.seats.unwrap_or(info.seats.min)).map(|other| match &args.opponent {
            _ if other == seat => Ok(bot.clone()),
            Some(opponent) => setup::seating(&args.game, opponent, args.sandbox),
            None => Ok(weakest(table, other)),
        });
        let seats = others.collect::<Result<Vec<_>, _>>()?;
        if seats.contains(&PlayerSpec::Human) {
            return Err(Failure::wrong_use("--opponent: a person is too slow for this", "name a bot"));
        }
        table.check_seats(&seats).map_err(PlayError::from)?;
        tries.push(Try { seats, seat });
    }
    Ok(tries)
}

fn weakest(table: &dyn AnyGame, seat: Seat) -> PlayerSpec {
    let role = table.info().role(seat).name;
    let bots = table.house_bots();
    let name = bots.iter().find(|bot| bot.roles.contains(&role)).map_or("random", |bot| bot.name);
    PlayerSpec::House(name.to_owned())
}

fn profiled(one: &BotTimings, program: &Program, mut file: AtomicFile) -> Result<Profile, Failure> {
    let profile = profile::take(program, &one.films, one.seat, one.cpu)?;
    file.add(&profile.stats)?;
    file.finish()?;
    Ok(profile)
}

fn progress(order: &Order<'_>) -> ProgressBar {
    let bar = ProgressBar::new(u64::from(order.args.games) * order.tries.len() as u64);
    let style = "{bar:40} {pos}/{len} games  {msg}  {eta} left";
    bar.with_style(ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()))
}

impl Order<'_> {
    fn info(&self) -> &'static GameInfo {
        self.table.info()
    }

    /// The one Python bot that is to be profiled.
    fn python(&self) -> Result<Program, Failure> {
        let [one] = self.tries.as_slice() else {
            let (what, hint) = match self.args.bots.as_slice() {
                [_] => ("--profile: the bot is tried in several roles", "choose one, such as --role seeker"),
                _ => ("--profile: there are several bots", "profile one at a time"),
            };
            return Err(Failure::wrong_use(what, hint));
        };
        let bot = &one.seats[one.seat.index()];
        let program = match bot {
            PlayerSpec::Program(seat) => with_module(&seat.program, "profiling"),
            _ => None,
        };
        program.ok_or_else(|| {
            Failure::wrong_use(
                format!(
                    "--profile: {} is not a Python bot (a folder, a .py or .py:Class)",
                    one_line(&bot.spec())
                ),
                "other programs have profilers of their own, such as `perf record` or `python3 -m cProfile`",
            )
        })
    }

    /// Plays the games of one bot in one role, one at a time: timing two at once would time the machine.
    fn play(&self, one: &Try, progress: &ProgressBar) -> Result<BotTimings, Failure> {
        let name = seat_names(&one.seats).swap_remove(one.seat.index());
        progress.set_message(one_line(&name));
        let mut tried = BotTimings::new(one.seats[one.seat.index()].spec(), name, one.seat);
        let plan =
            MatchSetup { settings: &self.settings, seed: self.seed, seats: &one.seats, assets: &self.assets };
        let is_match = self.info().lifetime == BotLifetime::Match;
        // Games of a match are played in one go: its bots live as long as it does.
        let step = if is_match { self.args.games } else { 1 };
        let mut recorder = Recorder::new();
        for first in (0..self.args.games).step_by(step as usize) {
            let mut trouble = Ok(());
            let mut room: GameHooks<'_> = hooks_with_recorder(Some(&mut recorder));
            self.table.play(&plan, first..first + step, &mut room, &mut |played| {
                progress.inc(1);
                let bytes = played.record.map(|(bytes, _)| bytes).unwrap_or_default();
                if trouble.is_ok() {
                    trouble = self.take(&mut tried, &bytes);
                }
            })?;
            trouble?;
            // It does not run, or not in this role: more of the same would tell nothing.
            if tried.moves.is_empty() {
                progress.inc(u64::from(self.args.games - first).saturating_sub(u64::from(step)));
                break;
            }
        }
        tried.moves.sort_unstable();
        Ok(tried)
    }

    fn take(&self, tried: &mut BotTimings, bytes: &[u8]) -> Result<(), Failure> {
        let broke = |what: String| Failure { kind: ErrorKind::Internal, message: what };
        for record in read_all(bytes).map_err(|e| broke(e.to_string()))? {
            let film = self.table.film(record, &self.assets).map_err(|e| broke(e.to_string()))?;
            tried.add(film.as_ref(), &self.clock);
            if self.args.profile.is_some() {
                tried.films.push(film);
            }
        }
        Ok(())
    }

    /// A program says nothing of its roles. One in which it gave no answer, while it did in another, is not its own.
    fn without_roles_it_cannot_play(&self, tried: Vec<BotTimings>) -> Vec<BotTimings> {
        let plays = |spec: &str, tried: &[BotTimings]| {
            tried.iter().any(|one| one.spec == spec && !one.moves.is_empty())
        };
        let idle: Vec<bool> =
            tried.iter().map(|one| one.moves.is_empty() && plays(&one.spec, &tried)).collect();
        let mut kept = Vec::new();
        for (one, idle) in tried.into_iter().zip(idle) {
            if idle {
                let why = one.first_fault.as_deref().unwrap_or_default();
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

    fn text(&self, tried: &[BotTimings], profile: Option<&Profile>) -> String {
        let info = self.info();
        let games =
            if self.args.games == 1 { "1 game".to_owned() } else { format!("{} games", self.args.games) };
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
        let rows = tried.iter().map(|one| {
            let mut row = vec![one_line(&one.name)];
            row.extend(roles.then(|| info.role(one.seat).name.to_owned()));
            row.extend([one.moves.len().to_string(), faults(one.faults)]);
            let time = |time| if one.moves.is_empty() { "-".to_owned() } else { output::time(time) };
            row.extend(one.figures().map(time));
            row.extend([time(one.cpu_mean()), format!("{:.2} %", 100.0 * self.clock_used(one))]);
            row
        });
        text += &output::table(&titles, rows.collect());
        text += &format!("clock used: {}\n", self.clock_words());
        for one in tried.iter().filter(|one| !one.moves.is_empty()) {
            if let Some(fault) = &one.first_fault {
                text += &format!("first fault of {}: {fault}\n", one_line(&one.name));
            }
        }
        match (profile, &self.args.profile) {
            (Some(profile), Some(path)) => text + &profile.text(path),
            _ => text,
        }
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

    fn clock_words(&self) -> String {
        let limit = output::time(self.limit());
        match &self.clock {
            ClockRule::PerAnswer { .. } => format!("the longest move, of {limit} for each"),
            ClockRule::Bank { .. } => format!("all moves of the longest game, of {limit} for a game"),
            ClockRule::Shared { .. } => {
                format!("all moves of the longest game, of {limit} that the seats have together")
            }
        }
    }

    fn json(&self, tried: &[BotTimings], profile: Option<&Profile>) -> Json {
        let bots: Vec<Json> = tried.iter().map(|one| one.json(self.info(), self.clock_used(one))).collect();
        json!({
            "game": self.info().id,
            "seed": self.seed.to_string(),
            "settings": self.settings,
            "games": self.args.games,
            "seats": self.args.seats.unwrap_or(self.info().seats.min),
            "opponent": self.args.opponent,
            "clock": self.clock,
            "bots": bots,
            "profile": profile.map(|profile| profile.json(self.args.profile.as_deref())),
        })
    }
}
