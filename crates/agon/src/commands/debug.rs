//! `agon debug RECORD --seat N`: sends the recorded observations to a bot again, and reports the first answer that differs.

use std::ops::ControlFlow;

use agon_bots::PrepareContext;
use agon_bots::error::Diagnostic;
use agon_bots::source::archive::{ArchiveLimits, MAX_PACKED_BYTES};
use agon_core::record::Record;
use agon_core::sanitize::one_line;
use agon_core::text_format::plural;
use agon_core::{AnswerTimes, Assets, FaultReport, Picture, Seat, Settings, Viewpoint};
use agon_engine::any_game::{AnyGame, PlayError, bot_hash};
use agon_engine::debug_replay::fault_after_game;
use agon_engine::{Film, PlayerSpec, ReaskedRequest, RecordedRequest};
use agon_host::interactive::with_module;
use serde_json::{Value as Json, json};

use super::call_arguments::{self, CallArgument};
use super::pdb;
use crate::args::{Debug, SandboxMode};
use crate::logs::{fault_text, indent, times_text};
use crate::pretty::pretty;
use crate::watch::paint;
use crate::{errors, output, record_files, setup};

/// One seat of one recorded game, and the bot to ask.
pub struct DebugSession<'a> {
    pub args: &'a Debug,
    pub table: Box<dyn AnyGame>,
    /// The games of the match up to and including the game in question.
    pub films: Vec<Box<dyn Film>>,
    /// Index of the first of these games in the file, from 0.
    pub first: usize,
    pub seat: Seat,
    pub bot: PlayerSpec,
    /// Whether the bot differs from the recorded one.
    changed: bool,
    /// Recorded requests of the game in question.
    pub requests: Vec<RecordedRequest>,
}

/// One answer of the bot, kept for printing.
struct ReaskedAnswer {
    /// Number of the game in the file, from 1.
    game: usize,
    request: RecordedRequest,
    now: Result<String, FaultReport>,
    times: AnswerTimes,
    printed: String,
    same: bool,
    /// Whether this is what the bot does after the game.
    is_end: bool,
    /// Arguments of the call, if it is a Python bot's and they were asked for.
    arguments: Option<Vec<CallArgument>>,
}

/// Asks the bot again.
pub fn run(args: &Debug) -> Result<(), Diagnostic> {
    let session = parse(args)?;
    if args.is_interactive() { pdb::run(&session) } else { compare(&session) }
}

fn parse(args: &Debug) -> Result<DebugSession<'_>, Diagnostic> {
    let mut records = record_files::read(&args.record)?;
    let index = game_index(args, records.len())?;
    let table = agon_engine::any_game(&records[index].header.game)?;
    let (settings, assets) = setup::settings(table.info(), &args.settings)?;
    let games = table.games_to_replay(&records, index);
    let (first, records): (_, Vec<Record>) = (games.start, records.drain(games).collect());
    let films = (first + 1..)
        .zip(records)
        .map(|(number, record)| {
            table.film(record, &assets).map_err(|e| errors::replay(&args.record, number, e))
        })
        .collect::<Result<Vec<_>, _>>()?;
    let Some(film) = films.last() else {
        return Err(Diagnostic::wrong_use(
            "the record contains no games",
            "record one: agon play ... --record FILE",
        ));
    };
    let seats = &film.record().header.seats;
    let Some(seat) = Seat::all(seats.len()).nth(args.seat) else {
        let what = format!("--seat: seat {1} does not exist; the game has {0} seats", seats.len(), args.seat);
        let names =
            Seat::all(seats.len()).zip(seats).map(|(seat, who)| format!("{seat} {}", one_line(&who.name)));
        return Err(Diagnostic::wrong_use(
            what,
            format!("seats are {}", names.collect::<Vec<_>>().join(", ")),
        ));
    };
    let requests = film.requests(seat);
    if names_the_end(args, film.record(), seat) {
        check_end(args, film.len() - 1)?;
    } else {
        check_turn(args.turn, film.len() - 1, seat, &requests)?;
    }
    let (bot, changed) = find_bot(args, table.as_ref(), film.record(), seat, (&settings, &assets))?;
    Ok(DebugSession { args, table, films, first, seat, bot, changed, requests })
}

/// Index of the game in the file, from 0.
fn game_index(args: &Debug, count: usize) -> Result<usize, Diagnostic> {
    let file = args.record.display();
    match args.game {
        None if count == 1 => Ok(0),
        Some(k) if (1..=count).contains(&k) => Ok(k - 1),
        None => Err(Diagnostic::wrong_use(
            format!("{file} contains {count} games"),
            format!("choose one with --game K, from 1 to {count}"),
        )),
        Some(k) => Err(Diagnostic::wrong_use(
            format!("--game: game {k} does not exist; {file} contains {count} games"),
            format!("use a number from 1 to {count}"),
        )),
    }
}

/// Whether `--turn` names the end of the game: one more than the last turn, if the bot has failed there.
fn names_the_end(args: &Debug, record: &Record, seat: Seat) -> bool {
    args.turn == Some(record.turns.len() as u32 + 1) && fault_after_game(record, seat).is_some()
}

/// Rejects a debugger after the end of a game with this number of turns.
fn check_end(args: &Debug, turns: usize) -> Result<(), Diagnostic> {
    if !args.is_interactive() {
        return Ok(());
    }
    let option = if args.pdb { "--pdb" } else { "--attach" };
    Err(Diagnostic::wrong_use(
        format!("{option}: a debugger stops a bot in a turn, and the game is over after turn {turns}"),
        format!("omit {option} to see the exception and its line"),
    ))
}

fn check_turn(
    turn: Option<u32>,
    turns: usize,
    seat: Seat,
    requests: &[RecordedRequest],
) -> Result<(), Diagnostic> {
    let (Some(first), Some(last)) = (requests.first(), requests.last()) else {
        let what = format!("seat {seat} has no turn in this game");
        return Err(Diagnostic::wrong_use(what, "choose another seat"));
    };
    let Some(turn) = turn.filter(|turn| requests.iter().all(|request| request.turn != *turn)) else {
        return Ok(());
    };
    let what = if (1..=turns as u32).contains(&turn) {
        format!("--turn: seat {seat} was not asked in turn {turn}")
    } else {
        format!("--turn: turn {turn} does not exist; the game has turns 1 to {turns}")
    };
    let nearest = requests.iter().map(|request| request.turn).min_by_key(|t| t.abs_diff(turn));
    let hint = format!(
        "the seat was asked {} times, from turn {} to turn {}; the nearest is --turn {}",
        requests.len(),
        first.turn,
        last.turn,
        nearest.unwrap_or(first.turn),
    );
    Err(Diagnostic::wrong_use(what, hint))
}

/// The bot to ask, and whether it differs from the recorded one.
fn find_bot(
    args: &Debug,
    table: &dyn AnyGame,
    record: &Record,
    seat: Seat,
    settings: (&Settings, &Assets),
) -> Result<(PlayerSpec, bool), Diagnostic> {
    let then = &record.header.seats[seat.index()];
    let spec = args.bot.as_deref().unwrap_or(&then.bot);
    let sandbox = if args.is_interactive() { SandboxMode::Off } else { args.sandbox };
    let context = PrepareContext {
        settings: Some(settings),
        // The bot was accepted when the game was played, by whatever limit.
        archive_limits: ArchiveLimits::of_packed_bytes(MAX_PACKED_BYTES),
        ..setup::prepare_context(&record.header.game, sandbox, true)
    };
    let prepared = setup::prepare_bot(spec, &context).map_err(|failure| match args.bot {
        Some(_) => failure,
        None => failure.hint(
            "paths in a record are relative to the folder where it was played; change to that folder, or use --bot BOT",
        ),
    })?;
    let bot = prepared.player;
    if bot == PlayerSpec::Human {
        return Err(Diagnostic::wrong_use(
            format!("seat {seat} was played by a human, who cannot be asked again"),
            "choose another seat, or use --bot BOT to see a bot's answers",
        ));
    }
    // The record may be from an untrusted source, and the command that it names would run without the sandbox.
    if sandbox == SandboxMode::Off && args.bot.is_none() && is_command(&bot) {
        return Err(Diagnostic::wrong_use(
            format!("--sandbox off: the record names a command: {}", one_line(spec)),
            "if you trust the command, name it yourself: --bot COMMAND",
        ));
    }
    let mut seats = vec![PlayerSpec::Human; record.header.seats.len()];
    seats[seat.index()] = bot.clone();
    table.check_seats(&seats).map_err(PlayError::from)?;
    let changed = bot_hash(table.info(), &bot) != then.hash;
    if changed && args.bot.is_none() {
        output::note(&format!("note: {} has changed since the game was recorded", one_line(spec)));
    }
    Ok((bot, changed))
}

/// Whether the bot is a program other than a Python bot.
fn is_command(bot: &PlayerSpec) -> bool {
    matches!(bot, PlayerSpec::Program(one) if with_module(&one.program, "debugging").is_none())
}

fn compare(session: &DebugSession<'_>) -> Result<(), Diagnostic> {
    let records: Vec<Record> = session.films.iter().map(|film| film.record().clone()).collect();
    let (_, assets) = setup::settings(session.table.info(), &session.args.settings)?;
    let last_game = records.len() - 1;
    let (mut asked, mut first_difference, mut at_turn) =
        (0usize, None::<ReaskedAnswer>, None::<ReaskedAnswer>);
    session
        .table
        .reask(&records, session.seat, &session.bot, &assets, &mut |request| {
            asked += usize::from(!request.is_end);
            let here = request.game == last_game && Some(request.request.turn) == session.args.turn;
            if here {
                at_turn = Some(ReaskedAnswer::new(session.first, request));
            }
            if first_difference.is_none() && !request.is_same() {
                first_difference = Some(ReaskedAnswer::new(session.first, request));
            }
            // With --turn, a difference in an earlier turn does not stop the replay.
            let stop = here || (session.args.turn.is_none() && first_difference.is_some());
            if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .map_err(|e| errors::replay(&session.args.record, session.game_number(), e))?;
    if let Some(one) = at_turn.as_mut().filter(|one| !one.is_end) {
        one.arguments = call_arguments::call_arguments(session, &one.request);
    }
    if session.args.json {
        output::print_json("debug", session.json(asked, first_difference.as_ref(), at_turn.as_ref()))?;
    } else {
        output::print(&session.text(asked, first_difference.as_ref(), at_turn.as_ref()))?;
    }
    first_difference.map_or(Ok(()), |one| Err(one.difference(session.args.turn.is_none())))
}

/// The negative result: an answer differs from the recorded one.
pub fn difference_error(game: usize, turn: u32, hint: bool) -> Diagnostic {
    let what = format!("game {game}, turn {turn}: the bot's answer differs from the recorded one");
    let instruction = format!("--game {game} --turn {turn} shows the turn, --pdb stops the bot there");
    Diagnostic::rejected(what).hint(if hint { &instruction } else { "" })
}

impl DebugSession<'_> {
    /// Number of the game in the file, from 1.
    pub fn game_number(&self) -> usize {
        self.first + self.films.len()
    }

    /// The game in question.
    pub fn film(&self) -> Option<&dyn Film> {
        self.films.last().map(AsRef::as_ref)
    }

    /// Game, file, seat and bot in one line.
    pub fn title(&self) -> String {
        let who = self.film().and_then(|film| film.record().header.seats.get(self.seat.index()));
        let name = who.map_or_else(String::new, |who| one_line(&who.name));
        let spec = one_line(&self.bot.spec());
        let (game, file) = (self.game_number(), self.args.record.display());
        format!("{}, game {game} of {file}, seat {}: {name} ({spec})\n", self.table.info().title, self.seat)
    }

    fn text(&self, asked: usize, first: Option<&ReaskedAnswer>, at_turn: Option<&ReaskedAnswer>) -> String {
        let mut text = self.title();
        if let Some(one) = at_turn {
            text += &if one.is_end {
                self.end_text()
            } else {
                self.turn_text(&one.request, one.arguments.as_deref())
            };
            text += &one.text();
        }
        match first {
            Some(one)
                if at_turn.is_some_and(|at| (at.game, at.request.turn) == (one.game, one.request.turn)) => {}
            Some(one) => {
                text += &format!("\nfirst difference: game {}, {}\n", one.game, one.place());
                text += &one.text();
            }
            None => {
                let answers = plural(asked, "answer", "answers");
                let games = match self.films.len() {
                    1 => String::new(),
                    n => format!(" in {n} games of the match"),
                };
                text += &format!("no difference: {answers}{games}, all as recorded\n");
            }
        }
        text
    }

    /// The position before a turn, as the seat sees it.
    fn picture(&self, request: &RecordedRequest) -> Option<Picture> {
        let turn = request.turn.checked_sub(1)? as usize;
        Some(self.film()?.picture(turn, Viewpoint::Seat(self.seat)))
    }

    /// Heading of the end of the game, and the last position.
    fn end_text(&self) -> String {
        let Some(film) = self.film() else { return String::new() };
        let turns = film.len() - 1;
        let picture = film.picture(turns, Viewpoint::Seat(self.seat));
        let heading = format!("\nafter the end of the game, which had {}\n", plural(turns, "turn", "turns"));
        heading + &paint::ansi(&picture, output::colour())
    }

    /// Heading of a turn, the position, and what the bot is asked: the arguments of its function, its input, or its observation.
    pub fn turn_text(&self, request: &RecordedRequest, arguments: Option<&[CallArgument]>) -> String {
        let Some(film) = self.film() else { return String::new() };
        let seen = film.observation(request.turn, self.seat);
        let lines = seen.text.filter(|_| matches!(&self.bot, PlayerSpec::Program(one) if !one.json_lines));
        let turns = film.len() - 1;
        let picture = self.picture(request).map(|picture| paint::ansi(&picture, output::colour()));
        let heading = format!(
            "\nturn {} of {turns}, {}, time limit {}\n{}",
            request.turn,
            request.name,
            output::time(request.limit),
            picture.unwrap_or_default(),
        );
        match (lines, arguments) {
            (Some(lines), _) => format!("{heading}input:\n{}", indent(&lines)),
            (None, Some(arguments)) => format!("{heading}called with:\n{}", call_arguments::text(arguments)),
            (None, None) => format!("{heading}observation:\n{}\n", pretty(&seen.json)),
        }
    }

    fn json(&self, asked: usize, first: Option<&ReaskedAnswer>, at_turn: Option<&ReaskedAnswer>) -> Json {
        let record = self.film().map(Film::record);
        let name = record.and_then(|r| r.header.seats.get(self.seat.index())).map(|who| who.name.as_str());
        let observation = |one: &ReaskedAnswer| {
            if one.is_end {
                return None;
            }
            let film = self.films.get(one.game.checked_sub(self.first + 1)?)?;
            serde_json::from_str::<Json>(&film.observation(one.request.turn, self.seat).json).ok()
        };
        json!({
            "record": self.args.record,
            "game": self.table.info().id,
            "number": self.game_number(),
            "seat": self.seat,
            "name": name,
            "bot": self.bot.spec(),
            "bot_changed": self.changed,
            "asked": asked,
            "same": first.is_none(),
            "first_difference": first.map(|one| one.json(observation(one).as_ref())),
            "turn": at_turn.map(|one| {
                let mut turn = one.json(observation(one).as_ref());
                turn["picture"] = json!(self.picture(&one.request).map(|picture| picture.plain()));
                let arguments = one.arguments.as_ref();
                turn["arguments"] = arguments.map_or(Json::Null, |list| list.iter().map(CallArgument::json).collect());
                turn
            }),
        })
    }
}

impl ReaskedAnswer {
    fn new(first: usize, asked: &ReaskedRequest<'_>) -> Self {
        Self {
            game: first + asked.game + 1,
            request: asked.request.clone(),
            now: asked.answer.clone(),
            times: asked.times,
            printed: asked.output.clone(),
            same: asked.is_same(),
            is_end: asked.is_end,
            arguments: None,
        }
    }

    /// Where in the game.
    fn place(&self) -> String {
        if self.is_end {
            return "after its end".to_owned();
        }
        format!("turn {}, {}", self.request.turn, self.request.name)
    }

    /// The negative result: this answer differs from the recorded one.
    fn difference(&self, hint: bool) -> Diagnostic {
        if self.is_end {
            let what = format!("game {}: what the bot does after its end differs from the record", self.game);
            return Diagnostic::rejected(what);
        }
        difference_error(self.game, self.request.turn, hint)
    }

    fn text(&self) -> String {
        // What a bot does after a game is not timed.
        let times = |times: AnswerTimes| (!self.is_end).then_some(times);
        let mut text = reply_text("recorded", &self.request.recorded, times(self.request.times), false);
        text += &reply_text(now_title(self.same), &self.now, times(self.times), self.printed.is_empty());
        if self.same
            && self.request.recorded.as_ref().err().map(|f| &f.message)
                != self.now.as_ref().err().map(|f| &f.message)
        {
            text += "(the same fault with a different message)\n";
        }
        if !self.printed.is_empty() {
            text += &format!("printed\n{}", indent(&self.printed));
        }
        text
    }

    fn json(&self, observation: Option<&Json>) -> Json {
        json!({
            "game": self.game,
            "turn": self.request.turn,
            "request": self.request.name,
            "observation": observation,
            "same": self.same,
            "recorded": reply_json(&self.request.recorded, self.request.times),
            "now": reply_json(&self.now, self.times),
            "printed": self.printed,
        })
    }
}

/// Title of the new answer.
pub const fn now_title(same: bool) -> &'static str {
    if same { "now (same)" } else { "now (DIFFERENT)" }
}

/// An answer or a fault, with its times if they were measured.
fn reply_text(
    title: &str,
    reply: &Result<String, FaultReport>,
    times: Option<AnswerTimes>,
    with_log: bool,
) -> String {
    let came = match reply {
        Ok(answer) => answer.clone(),
        Err(report) => report.fault.to_string(),
    };
    let times = times.map_or_else(String::new, |times| format!("  ({})", times_text(times)));
    let mut text = format!("{title:<15} {came}{times}\n");
    if let Err(report) = reply {
        text += &fault_text(report, with_log);
    }
    text
}

fn reply_json(reply: &Result<String, FaultReport>, times: AnswerTimes) -> Json {
    let time_us = json!({
        "charged": output::micros(times.charged()),
        "wall": output::micros(times.wall),
        "cpu": output::micros(times.cpu),
        "wait": output::micros(times.wait),
    });
    match reply {
        Ok(answer) => json!({"answer": answer, "time_us": time_us}),
        Err(report) => json!({"fault": report, "time_us": time_us}),
    }
}
