//! Lineups of each pair of games: NEW and OLD against each other, or each against the same opponents.

use agon_bots::{Diagnostic, PrepareContext, PreparedBot};
use agon_core::random::{Rng, RngStream, match_seed};
use agon_core::sanitize::one_line;
use agon_core::{Assets, GameInfo, Seat, Settings};
use agon_engine::PlayerSpec;
use agon_engine::any_game::{AnyGame, MatchSetup, PlayError};

use crate::args::Compare;
use crate::setup;

/// Index of NEW in the list of bots.
const NEW: usize = 0;
/// Index of OLD; the opponents follow.
const OLD: usize = 1;
const FIELD: usize = 2;

/// All bots of a comparison.
pub struct CompareLineup {
    /// NEW, OLD, then the opponents.
    pub bots: Vec<PlayerSpec>,
    /// How NEW and OLD are compared.
    pub mode: CompareMode,
}

/// How NEW and OLD are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CompareMode {
    /// They play each other, with sides swapped.
    Duel,
    /// Each plays against the same opponents at a table of `seats` seats, at seat `at` or at a random seat.
    Paired { seats: usize, at: Option<Seat> },
}

/// One of the two games (or matches) of a pair.
pub struct PairGame {
    /// Bots in seat job.
    pub seats: Vec<PlayerSpec>,
    /// Seat of NEW, if it plays.
    pub new: Option<Seat>,
    /// Seat of OLD, if it plays.
    pub old: Option<Seat>,
}

impl CompareLineup {
    /// Resolves all bots, and adds house bots as opponents if they are needed.
    pub fn new(
        args: &Compare,
        table: &dyn AnyGame,
        settings: &Settings,
        assets: &Assets,
    ) -> Result<Self, Diagnostic> {
        let info = table.info();
        // Bot data is discarded, so that every comparison starts with the same bot.
        let context = PrepareContext {
            settings: Some((settings, assets)),
            ..setup::prepare_context(info.id, args.sandbox, false)
        };
        let read = |bot: &String| {
            let bot = setup::prepare_bot(bot, &context)?;
            if bot.player == PlayerSpec::Human {
                return Err(Diagnostic::wrong_use(
                    "a human cannot be compared or be an opponent",
                    "name a bot",
                ));
            }
            Ok(bot)
        };
        let mut bots = [&args.new, &args.old].into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let at = match info.roles.len() {
            0 | 1 => reject_role(args, info).map(|()| None)?,
            _ => Some(role(args, table, &bots, (settings, assets))?),
        };
        let duel = is_duel(args, info);
        if !duel {
            let field = args.against.iter().map(read).collect::<Result<Vec<_>, _>>()?;
            bots.extend(if field.is_empty() { house_opponents(table, at, &bots) } else { field });
        }
        setup::isolate(&mut bots, &context)?;
        let bots: Vec<PlayerSpec> = bots.into_iter().map(|bot| bot.player).collect();
        let others = (bots.len() - FIELD).clamp(info.seats.min.max(2) - 1, info.seats.max - 1);
        let mode = if duel { CompareMode::Duel } else { CompareMode::Paired { seats: others + 1, at } };
        Ok(Self { bots, mode })
    }

    /// Starts every program once, at a seat where it will play.
    pub fn try_load(
        &self,
        table: &dyn AnyGame,
        settings: &Settings,
        assets: &Assets,
    ) -> Result<(), Diagnostic> {
        let mut lineups: Vec<Vec<PlayerSpec>> = self.sides(0, 0).into_iter().map(|side| side.seats).collect();
        if let CompareMode::Paired { seats, at } = self.mode {
            // Opponents that the first pair has not drawn.
            let missing = self.bots[FIELD..].iter().filter(|bot| !lineups[0].contains(bot)).cloned();
            let missing: Vec<PlayerSpec> = missing.collect();
            for some in missing.chunks(seats - 1) {
                let mut others = some.iter().chain(&self.bots[FIELD..]).cloned().cycle();
                let at = at.unwrap_or(Seat(0));
                let seat = |seat| if seat == at { Some(self.bots[NEW].clone()) } else { others.next() };
                lineups.push(Seat::all(seats).filter_map(seat).collect());
            }
        }
        for seats in &lineups {
            table.check_seats(seats).map_err(PlayError::from)?;
            table.check_settings(settings, seats.len(), assets)?;
            setup::try_load(table, &MatchSetup { settings, seed: 0, seats, assets })?;
        }
        Ok(())
    }

    /// The two games of a pair.
    pub fn sides(&self, seed: u64, pair: u32) -> [PairGame; 2] {
        let bot = |index: usize| self.bots[index].clone();
        let CompareMode::Paired { seats, at } = self.mode else {
            let (first, second) = (Some(Seat(0)), Some(Seat(1)));
            return [
                PairGame { seats: vec![bot(NEW), bot(OLD)], new: first, old: second },
                PairGame { seats: vec![bot(OLD), bot(NEW)], new: second, old: first },
            ];
        };
        // A separate random stream for the pair. The games do not draw from it, because each is the first game of its series.
        let mut rng = Rng::new(match_seed(seed, pair), RngStream::Series);
        let at = at.unwrap_or_else(|| Seat(rng.below(seats as u32) as u8));
        let mut field: Vec<usize> = (FIELD..self.bots.len()).collect();
        rng.shuffle(&mut field);
        let with = |subject: usize| {
            let mut others = field.iter().cycle();
            let seat = |seat| if seat == at { Some(subject) } else { others.next().copied() };
            Seat::all(seats).filter_map(seat).map(bot).collect()
        };
        [
            PairGame { seats: with(NEW), new: Some(at), old: None },
            PairGame { seats: with(OLD), new: None, old: Some(at) },
        ]
    }

    /// NEW and OLD as the user named them.
    pub fn names(&self) -> [String; 2] {
        [NEW, OLD].map(|index| one_line(&self.bots[index].spec()))
    }

    /// The opponents as the user named them.
    pub fn field(&self) -> Vec<String> {
        self.bots[FIELD..].iter().map(|bot| one_line(&bot.spec())).collect()
    }

    /// Whether pairs must be played one after the other, because bots that keep data between matches depend on the job.
    pub fn one_by_one(&self) -> bool {
        self.bots.iter().any(|bot| matches!(bot, PlayerSpec::Program(one) if one.logs_dir.is_some()))
    }
}

/// Whether NEW and OLD play each other.
pub fn is_duel(args: &Compare, info: &GameInfo) -> bool {
    args.against.is_empty() && info.roles.len() < 2 && info.seats.max == 2
}

/// Rejects `--role` in games with only one role.
fn reject_role(args: &Compare, info: &GameInfo) -> Result<(), Diagnostic> {
    match &args.role {
        Some(role) if info.roles.iter().all(|known| known.name != role) => Err(Diagnostic::wrong_use(
            format!("--role: {} has no role `{role}`", info.id),
            "omit it; all seats have the same role",
        )),
        _ => Ok(()),
    }
}

/// House bots for the free roles, without the compared bots if others are left.
fn house_opponents(table: &dyn AnyGame, at: Option<Seat>, compared: &[PreparedBot]) -> Vec<PreparedBot> {
    let info = table.info();
    let own = at.map(|seat| info.role(seat).name);
    let fits = |roles: &[&str]| own.is_none_or(|own| roles.iter().any(|role| *role != own));
    let all: Vec<PreparedBot> = table
        .house_bots()
        .into_iter()
        .filter(|bot| fits(&bot.roles))
        .map(|bot| PreparedBot::house(bot.name))
        .collect();
    let is_compared = |bot: &PreparedBot| compared.iter().any(|other| other.player == bot.player);
    let others: Vec<PreparedBot> = all.iter().filter(|bot| !is_compared(bot)).cloned().collect();
    if others.len() + 1 >= info.seats.min { others } else { all }
}

/// Settings and files of the game.
type GameSetup<'g> = (&'g Settings, &'g Assets);

/// The seat of the role that both play.
fn role(
    args: &Compare,
    table: &dyn AnyGame,
    bots: &[PreparedBot],
    ground: GameSetup<'_>,
) -> Result<Seat, Diagnostic> {
    let info = table.info();
    let names: Vec<&str> = info.roles.iter().map(|role| role.name).collect();
    if let Some(role) = &args.role {
        let known = names.iter().position(|name| name == role).map(|index| Seat(index as u8));
        return known.ok_or_else(|| {
            let what = format!("--role: {} has no role `{role}`", info.id);
            Diagnostic::wrong_use(what, format!("use one of: {}", names.join(", ")))
        });
    }
    let plays = bots
        .iter()
        .map(|bot| roles_of(table, &bot.player, ground))
        .collect::<Result<Vec<Vec<Seat>>, Diagnostic>>()?;
    let both: Vec<Seat> = plays[NEW].iter().filter(|seat| plays[OLD].contains(seat)).copied().collect();
    let role = |seat: &Seat| info.role(*seat).name;
    match both.as_slice() {
        [seat] => Ok(*seat),
        [] => {
            let roles_text = |index: usize| {
                let roles: Vec<&str> = plays[index].iter().map(role).collect();
                format!("{} plays the {}", one_line(&bots[index].player.spec()), roles.join(" and the "))
            };
            let what = format!("{}, {}", roles_text(NEW), roles_text(OLD));
            Err(Diagnostic::wrong_use(what, "compare two bots of the same role"))
        }
        [first, ..] => Err(Diagnostic::wrong_use(
            format!("both play {}", both.iter().map(role).collect::<Vec<_>>().join(" and ")),
            format!("choose one, such as --role {}", role(first)),
        )),
    }
}

/// Seats that a bot can play: a house bot declares them, a program is tried.
fn roles_of(table: &dyn AnyGame, bot: &PlayerSpec, ground: GameSetup<'_>) -> Result<Vec<Seat>, Diagnostic> {
    let info = table.info();
    let house = table.house_bots();
    let mut plays = Vec::new();
    let mut refusal = None;
    for seat in Seat::all(info.roles.len()) {
        let role = |seat: Seat| info.role(seat).name;
        let other = |seat: Seat| {
            let name = house.iter().find(|one| one.roles.contains(&role(seat))).map(|one| one.name);
            PlayerSpec::House(name.unwrap_or_default().to_owned())
        };
        let seats: Vec<PlayerSpec> = Seat::all(info.roles.len())
            .map(|place| if place == seat { bot.clone() } else { other(place) })
            .collect();
        let (settings, assets) = ground;
        let plan = MatchSetup { settings, seed: 0, seats: &seats, assets };
        let sits = table.check_seats(&seats).map_err(|error| PlayError::from(error).into());
        match sits.and_then(|()| setup::try_load(table, &plan)) {
            Ok(_) => plays.push(seat),
            Err(failure) => refusal = Some(refusal.unwrap_or(failure)),
        }
    }
    match refusal {
        Some(failure) if plays.is_empty() => Err(failure),
        _ => Ok(plays),
    }
}
