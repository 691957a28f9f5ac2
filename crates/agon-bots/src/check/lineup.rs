//! Who plays in the trial of a check: the bot at one seat, house bots at the others.

use agon_core::{GameInfo, Seat};
use agon_engine::{AnyGame, PlayerSpec, ProgramSpec};

use crate::source::source_check::SourceReport;

/// Length of a trial game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TrialLength {
    /// Shortened by the game's `check_settings`, for a quick answer.
    Short,
    /// As in a competition.
    Full,
}

/// Strength of the opponents.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum HouseStrength {
    /// The weakest house bot of the role.
    Weakest,
    /// The strongest house bot of the role.
    Strongest,
}

/// The seats of one trial.
pub(super) struct Lineup {
    /// Seat of the bot.
    pub(super) own: Seat,
    pub(super) seats: Vec<PlayerSpec>,
    pub(super) length: TrialLength,
}

impl Lineup {
    /// Bot specs of the house bots.
    pub(super) fn opponents(&self) -> Vec<String> {
        self.seats.iter().filter(|seat| matches!(seat, PlayerSpec::House(_))).map(PlayerSpec::spec).collect()
    }
}

/// One lineup for each role that the bot plays.
pub(super) fn lineups(
    table: &dyn AnyGame,
    bot: &ProgramSpec,
    report: &SourceReport,
    seats: usize,
    (strength, length): (HouseStrength, TrialLength),
) -> Vec<Lineup> {
    let info = table.info();
    let lineup = |own: Seat| {
        let sit = |place: Seat| {
            if place == own {
                PlayerSpec::Program(bot.clone())
            } else {
                PlayerSpec::House(house_bot(table, info, place, strength))
            }
        };
        Lineup { own, seats: Seat::all(seats).map(sit).collect(), length }
    };
    let fits =
        |own: &Seat| report.roles.is_empty() || report.roles.iter().any(|role| role == info.role(*own).name);
    let most = if info.roles.len() > 1 { seats } else { 1 };
    Seat::all(seats).take(most).filter(fits).map(lineup).collect()
}

/// A house bot for a seat. House bots are listed weakest first.
fn house_bot(table: &dyn AnyGame, info: &GameInfo, place: Seat, strength: HouseStrength) -> String {
    let role = info.role(place).name;
    let bots = table.house_bots();
    let mut fitting = bots.iter().filter(|bot| bot.roles.contains(&role));
    let chosen = match strength {
        HouseStrength::Weakest => fitting.next(),
        HouseStrength::Strongest => fitting.next_back(),
    };
    chosen.map_or("random", |bot| bot.name).to_owned()
}
