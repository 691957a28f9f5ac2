//! A game of any kind behind one object-safe face.

use std::io;
use std::ops::{ControlFlow, Range};

use agon_core::record::{Header, Record, Recorder};
use agon_core::{Assets, ClockRule, GameInfo, Lifetime, Seat, Settings, SettingsError};
use agon_games::{Hosted, UnknownGame, Visitor};
use agon_host::intake::Trying;
use agon_host::{Conditions, Introduction};
use serde::Serialize;
use serde_json::Value as Json;

use crate::again::{self, Retold};
use crate::chronicle::{self, Chronicle};
use crate::film::live::{self, LiveFilm, Reel};
use crate::film::{Film, FilmOf, ReplayError, header, settings_json};
use crate::referee::{self, Chair, Played, Room};
pub use crate::seating::{NotLoaded, ProgramSeat, Seating, SeatingError, seat_hash, seat_names};
use crate::seating::{chair, check_seat, seat_record};

/// A house bot, as data.
#[derive(Clone, Debug, Serialize)]
pub struct BotInfo {
    /// Its name, without `house:`.
    pub name: &'static str,
    /// The roles it plays.
    pub roles: Vec<&'static str>,
    /// How it thinks.
    pub thinks: &'static str,
}

/// A starting position.
pub struct Shown {
    /// As text.
    pub text: String,
    /// As a view frame.
    pub frame: Json,
}

/// What is to be played: some games of a series.
pub struct Plan<'p> {
    /// The series' settings.
    pub settings: &'p Settings,
    /// The series' seed.
    pub seed: u64,
    /// Who sits where.
    pub seats: &'p [Seating],
    /// Files in place of what games ship.
    pub assets: &'p Assets,
}

/// Which games of a match are played: decided as it goes, so that a match can stop when it is decided.
pub trait Programme {
    /// What the bots are called, in seat order, if not by their own names. No two the same.
    fn names(&self) -> Option<Vec<String>> {
        None
    }

    /// The next game: its number in the match, and its settings.
    fn next(&mut self) -> Option<(u32, &Settings)>;

    /// A game was played.
    fn done(&mut self, played: Played);
}

/// Games one after the other.
struct InRow<'r> {
    games: Range<u32>,
    settings: &'r Settings,
    done: &'r mut dyn FnMut(Played),
}

impl Programme for InRow<'_> {
    fn next(&mut self) -> Option<(u32, &Settings)> {
        Some((self.games.next()?, self.settings))
    }

    fn done(&mut self, played: Played) {
        (self.done)(played);
    }
}

/// A game of some kind: everything that can be done without knowing which.
pub trait Table: Send + Sync {
    /// What the game is.
    fn info(&self) -> &'static GameInfo;

    /// Its house bots, weakest first.
    fn bots(&self) -> Vec<BotInfo>;

    /// Checks settings that belong together, and the number of seats.
    fn check(&self, settings: &Settings, seats: usize, assets: &Assets) -> Result<(), SettingsError>;

    /// Checks that these can sit at this game.
    fn check_seats(&self, seats: &[Seating]) -> Result<(), SeatingError>;

    /// Starts every program once, to see whether it comes up. Programs that speak a game's own lines cannot be asked.
    fn try_load(&self, plan: &Plan<'_>) -> Result<(), PlayError>;

    /// The starting position of a seed.
    fn show(
        &self,
        settings: &Settings,
        seats: usize,
        seed: u64,
        assets: &Assets,
    ) -> Result<Shown, SettingsError>;

    /// Plays games of a series one after the other, handing each to `done`. If the game has matches, the games
    /// are those of one match.
    fn play(
        &self,
        plan: &Plan<'_>,
        games: Range<u32>,
        room: &mut Room<'_>,
        done: &mut dyn FnMut(Played),
    ) -> Result<(), PlayError> {
        self.play_match(plan, &mut InRow { games, settings: plan.settings, done }, room)
    }

    /// Plays the games of one match; the same bots for all of them where bots live for a match.
    fn play_match(
        &self,
        plan: &Plan<'_>,
        programme: &mut dyn Programme,
        room: &mut Room<'_>,
    ) -> Result<(), PlayError>;

    /// Plays a record through the rules.
    fn film(&self, record: Record, assets: &Assets) -> Result<Box<dyn Film>, ReplayError>;

    /// A film of a game that is about to begin, and the reel that gives its turns as they are played. No more of the header is shown
    /// than spectators may see.
    fn reel(
        &self,
        header: &Header,
        contributors: &[Option<String>],
        assets: &Assets,
    ) -> Result<(LiveFilm, Box<dyn Reel>), ReplayError>;

    /// The log of a finished game as bots may read it (Connect Five's `logs/`): by the bot at `seat`, or by another. `None` in a
    /// game that has none.
    fn chronicle(
        &self,
        record: Record,
        seat: Option<Seat>,
        assets: &Assets,
    ) -> Result<Option<String>, ReplayError>;

    /// What a competition publishes of a finished game (Solitude's history), as JSON text. `None` in a game that has no such thing.
    fn published(&self, record: Record, assets: &Assets) -> Result<Option<String>, ReplayError>;

    /// The clock of games with these settings.
    fn clock(&self, settings: &Settings, seats: usize, assets: &Assets) -> Result<ClockRule, SettingsError>;

    /// Which games of a file one has to play again so that a bot is as it was in game `index`: that game, and those of
    /// its match before it.
    fn games_before(&self, records: &[Record], index: usize) -> Range<usize>;

    /// Asks a bot again what a seat was asked in these games, one after the other, without a clock. `each` gets every
    /// request with the bot's answer, and says when to stop.
    fn ask_again(
        &self,
        records: &[Record],
        seat: Seat,
        bot: &Seating,
        assets: &Assets,
        each: &mut dyn FnMut(&Retold<'_>) -> ControlFlow<()>,
    ) -> Result<(), ReplayError>;
}

/// Why a game could not be played.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// These settings make no game.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// These bots cannot sit there.
    #[error(transparent)]
    Seating(#[from] SeatingError),
    /// One of them does not come up.
    #[error(transparent)]
    NotLoaded(#[from] NotLoaded),
    /// The terminal or the packer failed.
    #[error("while playing: {0}")]
    Io(#[from] io::Error),
}

/// The table of a game, by id.
pub fn table(id: &str) -> Result<Box<dyn Table>, UnknownGame> {
    struct SetUp;
    impl Visitor for SetUp {
        type Output = Box<dyn Table>;
        fn visit<G: Hosted>(self) -> Self::Output {
            Box::new(TableOf::<G>(std::marker::PhantomData))
        }
    }
    agon_games::visit(id, SetUp)
}

/// So many programs are started at once when they are tried.
const AT_ONCE: usize = 8;

struct TableOf<G>(std::marker::PhantomData<G>);

impl<G: Hosted> Table for TableOf<G> {
    fn info(&self) -> &'static GameInfo {
        G::info()
    }

    fn bots(&self) -> Vec<BotInfo> {
        let all: Vec<&'static str> = G::info().roles.iter().map(|role| role.name).collect();
        let roles = |roles: &[&'static str]| if roles.is_empty() { all.clone() } else { roles.to_vec() };
        G::bots().iter().map(|b| BotInfo { name: b.name, roles: roles(b.roles), thinks: b.thinks }).collect()
    }

    fn check(&self, settings: &Settings, seats: usize, assets: &Assets) -> Result<(), SettingsError> {
        G::new(settings, seats, assets).map(drop)
    }

    fn check_seats(&self, seats: &[Seating]) -> Result<(), SeatingError> {
        let info = G::info();
        if !info.seats.allows(seats.len()) {
            let what = format!("{} is played by {}, not by {}", info.id, info.seats.words(), seats.len());
            let missing = info.seats.min.saturating_sub(seats.len());
            let hint = match missing {
                0 => format!("leave out {}", seats.len() - info.seats.max.min(seats.len())),
                n => {
                    format!("add {n} more, such as house:{}", G::bots().first().map_or("random", |b| b.name))
                }
            };
            return Err(SeatingError { what, hint });
        }
        Seat::all(seats.len()).zip(seats).try_for_each(|(seat, seating)| check_seat::<G>(seat, seating))
    }

    fn try_load(&self, plan: &Plan<'_>) -> Result<(), PlayError> {
        let names = seat_names(plan.seats);
        let (settings, _) = G::in_series(plan.settings, plan.seed, 0);
        let game = G::new(&settings, plan.seats.len(), plan.assets)?;
        let programs: Vec<(Seat, &ProgramSeat)> = Seat::all(plan.seats.len())
            .zip(plan.seats)
            .filter_map(|(seat, seating)| match seating {
                Seating::Program(one) if one.json_lines || G::own_lines().is_none() => Some((seat, one)),
                _ => None,
            })
            .collect();
        for some in programs.chunks(AT_ONCE) {
            let begin = |&(seat, one): &(Seat, &ProgramSeat)| {
                let told = Introduction::new(&game, &settings, seat, &names);
                (seat, Trying::begin::<G>(&one.program, &told, Conditions::of::<G>()))
            };
            let trying: Vec<_> = some.iter().map(begin).collect();
            for (seat, one) in trying {
                one.and_then(Trying::finish).map_err(|refusal| NotLoaded { seat, refusal })?;
            }
        }
        Ok(())
    }

    fn show(
        &self,
        settings: &Settings,
        seats: usize,
        seed: u64,
        assets: &Assets,
    ) -> Result<Shown, SettingsError> {
        let game = G::new(settings, seats, assets)?;
        let state = game.start(seed);
        Ok(Shown { text: game.show(&state), frame: game.frame(&state) })
    }

    fn play_match(
        &self,
        plan: &Plan<'_>,
        programme: &mut dyn Programme,
        room: &mut Room<'_>,
    ) -> Result<(), PlayError> {
        self.check_seats(plan.seats)?;
        let names = programme.names().unwrap_or_else(|| seat_names(plan.seats));
        let records = plan.seats.iter().zip(&names).map(|(s, n)| seat_record::<G>(s, n)).collect();
        // From game to game only the seed and perhaps a setting change.
        let mut header = header::<G>(plan.settings, plan.seed, records);
        let mut described = plan.settings.clone();
        let mut chairs: Vec<Chair<G>> = Vec::new();
        let logs = chronicle::places(plan.seats);
        while let Some((index, settings)) = programme.next() {
            let (settings, seed) = G::in_series(settings, plan.seed, index);
            let game = G::new(&settings, plan.seats.len(), plan.assets)?;
            if chairs.is_empty() || G::info().lifetime != Lifetime::Match {
                let seat = |seat: Seat| chair(&plan.seats[seat.index()], &game, &settings, seat, &names);
                chairs = Seat::all(plan.seats.len()).map(seat).collect();
            }
            header.seed = seed;
            if settings != described {
                header.settings = settings_json(&settings);
                described = settings;
            }
            let mut lent = room.lend();
            let mut chronicle = Chronicle::new(G::info().id, &names, &logs, lent.reporter.take());
            let mut with_logs = lent.lend();
            with_logs.reporter = chronicle.listener();
            let played = referee::play(&game, index, &header, &names, &mut chairs, &mut with_logs)?;
            chronicle.finish()?;
            let match_lost = played.outcome.match_lost_by.is_some();
            programme.done(played);
            if match_lost {
                break;
            }
        }
        for chair in &mut chairs {
            if let Chair::Bot(player) = chair {
                player.match_over();
            }
        }
        Ok(())
    }

    fn film(&self, record: Record, assets: &Assets) -> Result<Box<dyn Film>, ReplayError> {
        Ok(Box::new(FilmOf::<G>::new(record, assets)?))
    }

    fn reel(
        &self,
        header: &Header,
        contributors: &[Option<String>],
        assets: &Assets,
    ) -> Result<(LiveFilm, Box<dyn Reel>), ReplayError> {
        let (film, reel) = live::begin::<G>(header, contributors, assets)?;
        Ok((film, Box::new(reel)))
    }

    fn chronicle(
        &self,
        record: Record,
        seat: Option<Seat>,
        assets: &Assets,
    ) -> Result<Option<String>, ReplayError> {
        Ok(chronicle::retell(&FilmOf::<G>::new(record, assets)?, seat))
    }

    fn published(&self, record: Record, assets: &Assets) -> Result<Option<String>, ReplayError> {
        let film = FilmOf::<G>::new(record, assets)?;
        Ok(film.look(film.len() - 1, |game, state| game.published(state, &film.names)))
    }

    fn clock(&self, settings: &Settings, seats: usize, assets: &Assets) -> Result<ClockRule, SettingsError> {
        G::new(settings, seats, assets).map(|game| game.clock())
    }

    fn games_before(&self, records: &[Record], index: usize) -> Range<usize> {
        again::games_before::<G>(records, index)
    }

    fn ask_again(
        &self,
        records: &[Record],
        seat: Seat,
        bot: &Seating,
        assets: &Assets,
        each: &mut dyn FnMut(&Retold<'_>) -> ControlFlow<()>,
    ) -> Result<(), ReplayError> {
        let films: Result<Vec<_>, _> =
            records.iter().map(|record| FilmOf::<G>::new(record.clone(), assets)).collect();
        let films = films?;
        let Some(first) = films.first() else { return Ok(()) };
        if let Chair::Bot(mut player) = chair(bot, &first.game, &first.settings, seat, &first.names) {
            again::ask(&films, seat, player.as_mut(), each);
        }
        Ok(())
    }
}

/// A room with nobody in it but, if wanted, a recorder.
pub fn quiet_room(recorder: Option<&mut Recorder>) -> Room<'_> {
    Room { reporter: None, console: None, recorder, log: None }
}
