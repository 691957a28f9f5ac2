//! Object-safe interface to a game of any type.

use std::io;
use std::ops::{ControlFlow, Range};

use agon_core::record::{Record, RecordHeader, Recorder};
use agon_core::{
    Assets, BotLifetime, ClockRule, Diagnostic, FaultReport, GameInfo, Seat, SelfDescription, Settings,
    SettingsError, Viewpoint,
};
use agon_games::{GameVisitor, PlayableGame, UnknownGame};
use agon_host::LoadCheck;
use agon_host::{HelloInfo, PlayerOptions};
use serde::Serialize;
use serde_json::Value as Json;

use crate::debug_replay::{self, ReaskedRequest};
use crate::empty_answers::EmptyAnswers;
use crate::film::json::FilmExtras;
use crate::film::live::{self, LiveFilm, TurnReplayer};
use crate::film::{self, Film, ReplayError, TypedFilm, header, settings_json};
use crate::logs_dir::{self, LogsDirWriter};
pub use crate::player_spec::{BotLoadError, PlayerSpec, PlayerSpecError, ProgramSpec, bot_hash, seat_names};
use crate::player_spec::{check_seat, seat_player, seat_record};
use crate::referee::{self, GameHooks, PlayedGame, Players, SeatedPlayer};

/// Description of a house bot.
#[derive(Clone, Debug, Serialize)]
pub struct HouseBotInfo {
    /// Name without `house:`.
    pub name: &'static str,
    /// Roles it plays.
    pub roles: Vec<&'static str>,
    /// One line about how it plays.
    #[serde(rename = "thinks")]
    pub strategy: &'static str,
}

/// A starting position.
pub struct StartPosition {
    /// The position as text.
    pub text: String,
    /// The position as a frame for viewers.
    pub frame: Json,
    /// Whether the game has pictures with numbers in place of letters.
    pub has_numbers: bool,
}

/// Settings, seed and players of the games of a series or match.
pub struct MatchSetup<'p> {
    /// Settings of the series.
    pub settings: &'p Settings,
    /// Seed of the series.
    pub seed: u64,
    /// Players in seat order.
    pub seats: &'p [PlayerSpec],
    /// Files that replace what games ship.
    pub assets: &'p Assets,
}

/// Games of a match. Each game is chosen after the previous one, so that a match can stop early.
pub trait GameSequence {
    /// Names of the bots in seat order, all different. `None` to use the bots' own names.
    fn names(&self) -> Option<Vec<String>> {
        None
    }

    /// The next game: its number in the match, and its settings.
    fn next(&mut self) -> Option<(u32, &Settings)>;

    /// Called after each game.
    fn done(&mut self, played: PlayedGame);
}

/// Faults in what bots did after a match. They cost nothing.
pub type FaultsAfterMatch = Vec<(Seat, FaultReport)>;

/// A fixed range of games, until a stop is requested.
struct FixedSequence<'r> {
    games: Range<u32>,
    settings: &'r Settings,
    stopped: &'r dyn Fn() -> bool,
    done: &'r mut dyn FnMut(PlayedGame),
}

impl GameSequence for FixedSequence<'_> {
    fn next(&mut self) -> Option<(u32, &Settings)> {
        if (self.stopped)() {
            return None;
        }
        Some((self.games.next()?, self.settings))
    }

    fn done(&mut self, played: PlayedGame) {
        (self.done)(played);
    }
}

/// A game of any type.
pub trait AnyGame: Send + Sync {
    /// Description of the game.
    fn info(&self) -> &'static GameInfo;

    /// House bots, weakest first.
    fn house_bots(&self) -> Vec<HouseBotInfo>;

    /// Checks conditions between settings, and the number of seats.
    fn check_settings(&self, settings: &Settings, seats: usize, assets: &Assets)
    -> Result<(), SettingsError>;

    /// Checks that these players can play the game.
    fn check_seats(&self, seats: &[PlayerSpec]) -> Result<(), PlayerSpecError>;

    /// Starts every program once to check that it loads. Programs that use a game's text protocol are skipped. Returns what the
    /// bots say about themselves, in seat order, if the game's tables use it.
    fn try_load(&self, setup: &MatchSetup<'_>) -> Result<Vec<SelfDescription>, PlayError>;

    /// Starting position for a seed.
    fn start_position(
        &self,
        settings: &Settings,
        seats: usize,
        seed: u64,
        assets: &Assets,
    ) -> Result<StartPosition, SettingsError>;

    /// Plays games of a series one after the other and passes each to `done`. If bots live for a match, the games form one
    /// match.
    fn play(
        &self,
        setup: &MatchSetup<'_>,
        games: Range<u32>,
        hooks: &mut GameHooks<'_>,
        done: &mut dyn FnMut(PlayedGame),
    ) -> Result<FaultsAfterMatch, PlayError> {
        self.play_until_stopped(setup, games, hooks, &|| false, done)
    }

    /// Like [`AnyGame::play`], but starts no other game once `stopped` says so.
    fn play_until_stopped(
        &self,
        setup: &MatchSetup<'_>,
        games: Range<u32>,
        hooks: &mut GameHooks<'_>,
        stopped: &dyn Fn() -> bool,
        done: &mut dyn FnMut(PlayedGame),
    ) -> Result<FaultsAfterMatch, PlayError> {
        let mut sequence = FixedSequence { games, settings: setup.settings, stopped, done };
        self.play_match(setup, &mut sequence, hooks)
    }

    /// Plays the games of one match. The bots are kept for all games if they live for a match.
    fn play_match(
        &self,
        setup: &MatchSetup<'_>,
        sequence: &mut dyn GameSequence,
        hooks: &mut GameHooks<'_>,
    ) -> Result<FaultsAfterMatch, PlayError>;

    /// Replays a record through the rules.
    fn film(&self, record: Record, assets: &Assets) -> Result<Box<dyn Film>, ReplayError>;

    /// Checks that a record follows from the rules, like [`AnyGame::film`], but faster. `recorder` is reused from record to record.
    fn check_record(
        &self,
        record: &Record,
        assets: &Assets,
        recorder: &mut Recorder,
    ) -> Result<(), ReplayError>;

    /// Creates the film of a game that is about to start, and a replayer that computes its turns while they are played. The film
    /// contains only the parts of the header that spectators may see. Bot output is not used.
    fn live_film(
        &self,
        header: &RecordHeader,
        extras: &FilmExtras,
        assets: &Assets,
    ) -> Result<(LiveFilm, Box<dyn TurnReplayer>), ReplayError>;

    /// Log of a finished game for the `logs/` folder (Connect Five), as the bot at `seat` sees it, or as other bots see it.
    /// `None` for games without logs.
    fn bot_log(
        &self,
        record: Record,
        seat: Option<Seat>,
        assets: &Assets,
    ) -> Result<Option<String>, ReplayError>;

    /// The finished game as a competition publishes it (Solitude's history), as JSON text. `None` for games without one.
    fn published_json(&self, record: Record, assets: &Assets) -> Result<Option<String>, ReplayError>;

    /// Time limit of games with these settings.
    fn clock(&self, settings: &Settings, seats: usize, assets: &Assets) -> Result<ClockRule, SettingsError>;

    /// Settings and seed of game `index` of a match with these settings and this seed, as its record's header has them.
    fn match_game(&self, settings: &Settings, seed: u64, index: u32) -> (serde_json::Map<String, Json>, u64);

    /// Games of a file that must be replayed to bring a bot into its state of game `index`: that game, and the earlier games of
    /// its match.
    fn games_to_replay(&self, records: &[Record], index: usize) -> Range<usize>;

    /// Sends the recorded requests of a seat to a bot again, without a clock. `each` gets every request with the new answer, and
    /// can stop the replay.
    fn reask(
        &self,
        records: &[Record],
        seat: Seat,
        bot: &PlayerSpec,
        assets: &Assets,
        each: &mut dyn FnMut(&ReaskedRequest<'_>) -> ControlFlow<()>,
    ) -> Result<(), ReplayError>;
}

/// Reason why a game could not be played.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// Invalid settings.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A player that cannot play at its seat.
    #[error(transparent)]
    PlayerSpec(#[from] PlayerSpecError),
    /// A bot that does not load.
    #[error(transparent)]
    BotLoad(#[from] BotLoadError),
    /// The terminal or the compressor failed.
    #[error("while playing: {0}")]
    Io(#[from] io::Error),
}

impl PlayError {
    /// The error as a value.
    pub fn diagnostic(&self) -> Diagnostic {
        match self {
            Self::Settings(error) => error.clone().into(),
            Self::PlayerSpec(error) => error.clone().into(),
            Self::BotLoad(error) => (*error.rejection).clone().into(),
            Self::Io(_) => Diagnostic::internal(self),
        }
    }
}

impl From<PlayError> for Diagnostic {
    fn from(error: PlayError) -> Self {
        error.diagnostic()
    }
}

/// The game with this id.
pub fn any_game(id: &str) -> Result<Box<dyn AnyGame>, UnknownGame> {
    struct MakeAnyGame;
    impl GameVisitor for MakeAnyGame {
        type Output = Box<dyn AnyGame>;
        fn visit<G: PlayableGame>(self) -> Self::Output {
            Box::new(TypedGame::<G>(std::marker::PhantomData))
        }
    }
    agon_games::visit(id, MakeAnyGame)
}

/// Maximum number of programs that [`AnyGame::try_load`] starts at the same time.
const MAX_PARALLEL_LOADS: usize = 8;

struct TypedGame<G>(std::marker::PhantomData<G>);

impl<G: PlayableGame> AnyGame for TypedGame<G> {
    fn info(&self) -> &'static GameInfo {
        G::info()
    }

    fn house_bots(&self) -> Vec<HouseBotInfo> {
        let all: Vec<&'static str> = G::info().roles.iter().map(|role| role.name).collect();
        let roles = |roles: &[&'static str]| if roles.is_empty() { all.clone() } else { roles.to_vec() };
        G::bots()
            .iter()
            .map(|b| HouseBotInfo { name: b.name, roles: roles(b.roles), strategy: b.strategy })
            .collect()
    }

    fn check_settings(
        &self,
        settings: &Settings,
        seats: usize,
        assets: &Assets,
    ) -> Result<(), SettingsError> {
        G::new(settings, seats, assets).map(drop)
    }

    fn check_seats(&self, seats: &[PlayerSpec]) -> Result<(), PlayerSpecError> {
        let info = G::info();
        if !info.seats.allows(seats.len()) {
            let what = format!("{} needs {} bots, not {}", info.id, info.seats.describe(), seats.len());
            let missing = info.seats.min.saturating_sub(seats.len());
            let hint = match missing {
                0 => format!("remove {}", seats.len() - info.seats.max.min(seats.len())),
                n => {
                    format!("add {n} more, such as house:{}", G::bots().first().map_or("random", |b| b.name))
                }
            };
            return Err(PlayerSpecError { message: what, hint });
        }
        Seat::all(seats.len()).zip(seats).try_for_each(|(seat, player)| check_seat::<G>(seat, player))
    }

    fn try_load(&self, setup: &MatchSetup<'_>) -> Result<Vec<SelfDescription>, PlayError> {
        let names = seat_names(setup.seats);
        let (settings, _) = G::series_game(setup.settings, setup.seed, 0);
        let game = G::new(&settings, setup.seats.len(), setup.assets)?;
        let programs: Vec<(Seat, &ProgramSpec)> = Seat::all(setup.seats.len())
            .zip(setup.seats)
            .filter_map(|(seat, player)| match player {
                PlayerSpec::Program(one) if one.json_lines || G::text_protocol().is_none() => {
                    Some((seat, one))
                }
                _ => None,
            })
            .collect();
        let mut says = vec![SelfDescription::default(); setup.seats.len()];
        for some in programs.chunks(MAX_PARALLEL_LOADS) {
            let begin = |&(seat, one): &(Seat, &ProgramSpec)| {
                let hello = HelloInfo::new(&game, &settings, seat, &names);
                (seat, LoadCheck::begin::<G>(&one.program, &hello, PlayerOptions::of::<G>()))
            };
            let trying: Vec<_> = some.iter().map(begin).collect();
            for (seat, one) in trying {
                let about = one
                    .and_then(LoadCheck::finish)
                    .map_err(|refusal| BotLoadError { seat, rejection: Box::new(refusal) })?;
                if G::info().bots.names_itself {
                    says[seat.index()] = about;
                }
            }
        }
        Ok(says)
    }

    fn start_position(
        &self,
        settings: &Settings,
        seats: usize,
        seed: u64,
        assets: &Assets,
    ) -> Result<StartPosition, SettingsError> {
        let game = G::new(settings, seats, assets)?;
        let state = game.start(seed);
        let names: Vec<String> = Seat::all(seats).map(|seat| format!("seat {seat}")).collect();
        let has_numbers = game.picture_with_numbers(&state, Viewpoint::All, &names).is_some();
        Ok(StartPosition { text: game.show(&state), frame: game.frame(&state), has_numbers })
    }

    fn play_match(
        &self,
        setup: &MatchSetup<'_>,
        sequence: &mut dyn GameSequence,
        hooks: &mut GameHooks<'_>,
    ) -> Result<FaultsAfterMatch, PlayError> {
        self.check_seats(setup.seats)?;
        let names = sequence.names().unwrap_or_else(|| seat_names(setup.seats));
        let records = setup.seats.iter().zip(&names).map(|(s, n)| seat_record::<G>(s, n)).collect();
        // The headers of the games differ only in the seed and possibly in a setting.
        let mut header = header::<G>(setup.settings, setup.seed, records);
        let mut described = setup.settings.clone();
        let mut players: Vec<SeatedPlayer<G>> = Vec::new();
        let mut empty_answers = None;
        let mut logs = logs_dir::logs_dirs(setup.seats)?;
        while let Some((index, settings)) = sequence.next() {
            let (settings, seed) = G::series_game(settings, setup.seed, index);
            let game = G::new(&settings, setup.seats.len(), setup.assets)?;
            if players.is_empty() || G::info().lifetime != BotLifetime::Match {
                let seat =
                    |seat: Seat| seat_player(&setup.seats[seat.index()], &game, &settings, seat, &names);
                players = Seat::all(setup.seats.len()).map(seat).collect();
                empty_answers = Some(EmptyAnswers::new(setup.seats, &game, &settings, &names));
            }
            header.seed = seed;
            if settings != described {
                header.settings = settings_json(&settings);
                described = settings;
            }
            let mut lent = hooks.reborrow();
            let mut log_writer = LogsDirWriter::new(G::info().id, &names, &mut logs, lent.reporter.take());
            let mut with_logs = lent.reborrow();
            with_logs.reporter = log_writer.reporter();
            let seated = Players { players: &mut players, empty_answers: empty_answers.as_mut() };
            let played = referee::play_measured(&game, index, &header, &names, seated, &mut with_logs)?;
            log_writer.finish()?;
            let match_lost = played.outcome.match_lost_by.is_some();
            sequence.done(played);
            if match_lost {
                break;
            }
        }
        let faults = end_match(&mut players, hooks)?;
        if let Some(empty_answers) = &mut empty_answers {
            empty_answers.match_over();
        }
        Ok(faults)
    }

    fn film(&self, record: Record, assets: &Assets) -> Result<Box<dyn Film>, ReplayError> {
        Ok(Box::new(TypedFilm::<G>::new(record, assets)?))
    }

    fn check_record(
        &self,
        record: &Record,
        assets: &Assets,
        recorder: &mut Recorder,
    ) -> Result<(), ReplayError> {
        film::check_record::<G>(record, assets, recorder)
    }

    fn live_film(
        &self,
        header: &RecordHeader,
        extras: &FilmExtras,
        assets: &Assets,
    ) -> Result<(LiveFilm, Box<dyn TurnReplayer>), ReplayError> {
        let (film, replayer) = live::start_live_film::<G>(header, extras, assets)?;
        Ok((film, Box::new(replayer)))
    }

    fn bot_log(
        &self,
        record: Record,
        seat: Option<Seat>,
        assets: &Assets,
    ) -> Result<Option<String>, ReplayError> {
        Ok(logs_dir::render_log(&TypedFilm::<G>::new(record, assets)?, seat))
    }

    fn published_json(&self, record: Record, assets: &Assets) -> Result<Option<String>, ReplayError> {
        let film = TypedFilm::<G>::new(record, assets)?;
        Ok(film.with_state_at(film.len() - 1, |game, state| game.published_json(state, &film.names)))
    }

    fn clock(&self, settings: &Settings, seats: usize, assets: &Assets) -> Result<ClockRule, SettingsError> {
        G::new(settings, seats, assets).map(|game| game.clock())
    }

    fn match_game(&self, settings: &Settings, seed: u64, index: u32) -> (serde_json::Map<String, Json>, u64) {
        let (settings, seed) = G::series_game(settings, seed, index);
        (settings_json(&settings), seed)
    }

    fn games_to_replay(&self, records: &[Record], index: usize) -> Range<usize> {
        debug_replay::games_to_replay::<G>(records, index)
    }

    fn reask(
        &self,
        records: &[Record],
        seat: Seat,
        bot: &PlayerSpec,
        assets: &Assets,
        each: &mut dyn FnMut(&ReaskedRequest<'_>) -> ControlFlow<()>,
    ) -> Result<(), ReplayError> {
        let films: Result<Vec<_>, _> =
            records.iter().map(|record| TypedFilm::<G>::new(record.clone(), assets)).collect();
        let films = films?;
        let Some(first) = films.first() else { return Ok(()) };
        if let SeatedPlayer::Bot(mut player) =
            seat_player(bot, &first.game, &first.settings, seat, &first.names)
        {
            debug_replay::reask(&films, seat, player.as_mut(), each);
        }
        Ok(())
    }
}

/// Tells all bots that the match is over. Returns the faults in what they did then.
fn end_match<G: PlayableGame>(
    players: &mut [SeatedPlayer<G>],
    hooks: &mut GameHooks<'_>,
) -> io::Result<FaultsAfterMatch> {
    let mut faults = Vec::new();
    for (seat, seated) in Seat::all(players.len()).zip(players) {
        if let SeatedPlayer::Bot(player) = seated {
            let fault = player.match_over();
            if let Some(log) = &mut hooks.log {
                log.match_over(seat, &player.take_output(), fault.as_deref())?;
            }
            faults.extend(fault.map(|report| (seat, *report)));
        }
    }
    Ok(faults)
}

/// Hooks with nothing but an optional recorder.
pub fn hooks_with_recorder(recorder: Option<&mut Recorder>) -> GameHooks<'_> {
    GameHooks { reporter: None, console: None, persons: None, recorder, log: None }
}
