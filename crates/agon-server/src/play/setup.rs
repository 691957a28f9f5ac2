//! What is played in a session: the game, its settings and its seats.

use std::path::{Path, PathBuf};

use agon_bots::prepare::isolate;
use agon_bots::source::archive::ArchiveLimits;
use agon_bots::{BotSource, Diagnostic, PrepareContext, PreparedBot, SandboxMode, prepare};
use agon_core::{Assets, GameInfo, Seat, SettingDefault, Settings};
use agon_engine::{AnyGame, PlayerSpec};
use agon_site_db::PlayedSeat;

use crate::uploads::MAX_UPLOAD_BYTES;

/// Maximum length of a person's name in characters.
pub const MAX_NAME_CHARS: usize = 40;

/// Whose clock persons play with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum PlayClock {
    /// The clock of the rules, by wall time.
    Rules,
    /// None for persons; bots keep the clock of the rules.
    None,
}

/// Who sits at a seat.
#[derive(Clone, Debug)]
pub enum SeatPlan {
    /// A person in a browser.
    Person,
    /// A house bot, by name.
    House(String),
    /// A submitted bot.
    Submitted(Box<SubmittedBot>),
    /// A bot of the command line, which is prepared already.
    Prepared(Box<PlayerSpec>),
}

/// A submitted bot at a seat.
#[derive(Clone, Debug)]
pub struct SubmittedBot {
    /// Bot spec, relative to the folder.
    pub spec: String,
    /// Folder of its competition.
    pub folder: PathBuf,
    /// Who it is, for the played game.
    pub seat: PlayedSeat,
}

impl SeatPlan {
    /// Whether a person sits there.
    pub const fn is_person(&self) -> bool {
        matches!(self, Self::Person)
    }

    /// Whether it is a program, which needs a core.
    pub const fn is_program(&self) -> bool {
        match self {
            Self::Submitted(_) => true,
            Self::Prepared(player) => matches!(**player, PlayerSpec::Program(_)),
            Self::Person | Self::House(_) => false,
        }
    }

    /// Name in the API.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::House(_) => "house",
            Self::Submitted(_) => "bot",
            Self::Prepared(player) => match **player {
                PlayerSpec::House(_) => "house",
                _ => "bot",
            },
        }
    }

    /// Name of a bot; `None` for a person.
    pub fn bot_name(&self) -> Option<&str> {
        match self {
            Self::Person => None,
            Self::House(name) => Some(name),
            Self::Submitted(bot) => Some(&bot.seat.name),
            Self::Prepared(player) => Some(match &**player {
                PlayerSpec::House(name) => name,
                PlayerSpec::Program(program) => &program.name,
                PlayerSpec::Human => "human",
            }),
        }
    }

    /// How the seat is stored with the played game. The name is that of the bot, or empty.
    pub fn played_seat(&self) -> PlayedSeat {
        let name = self.bot_name().unwrap_or_default().to_owned();
        match self {
            Self::Submitted(bot) => bot.seat.clone(),
            Self::House(house) => PlayedSeat { name, house: Some(house.clone()), ..PlayedSeat::default() },
            Self::Person | Self::Prepared(_) => PlayedSeat { name, ..PlayedSeat::default() },
        }
    }
}

/// What is played in a session.
pub struct SessionSetup {
    /// The game.
    pub game: Box<dyn AnyGame>,
    /// Settings of the game.
    pub settings: Settings,
    /// Files that the settings name.
    pub assets: Assets,
    /// Seed of the game.
    pub seed: u64,
    /// Players in seat order.
    pub seats: Vec<SeatPlan>,
    /// Whose clock persons play with.
    pub clock: PlayClock,
}

impl SessionSetup {
    /// Description of the game.
    pub fn info(&self) -> &'static GameInfo {
        self.game.info()
    }

    /// The seats of persons.
    pub fn persons(&self) -> impl Iterator<Item = usize> + '_ {
        self.seats.iter().enumerate().filter(|(_, plan)| plan.is_person()).map(|(seat, _)| seat)
    }

    /// Whether a program takes part.
    pub fn has_programs(&self) -> bool {
        self.seats.iter().any(SeatPlan::is_program)
    }

    /// Checks all that can be checked before the bots are prepared.
    pub fn check(&self) -> Result<(), Diagnostic> {
        if self.persons().next().is_none() {
            return Err(Diagnostic::wrong_use(
                "no person takes part",
                "make at least one seat a person's; bots play each other in challenges",
            ));
        }
        self.game.check_settings(&self.settings, self.seats.len(), &self.assets)?;
        // Whether a program fits its seat is checked when it is prepared.
        let known = |plan: &SeatPlan| match plan {
            SeatPlan::House(name) => PlayerSpec::House(name.clone()),
            SeatPlan::Prepared(player) => (**player).clone(),
            SeatPlan::Person | SeatPlan::Submitted(_) => PlayerSpec::Human,
        };
        let seats: Vec<PlayerSpec> = self.seats.iter().map(known).collect();
        self.game.check_seats(&seats).map_err(agon_engine::any_game::PlayError::from)?;
        Ok(())
    }

    /// Prepares the bots, and gives all seats different names. Persons have these names already.
    pub fn players(&self, person_names: &[String]) -> Result<(Vec<PlayerSpec>, Vec<String>), Diagnostic> {
        let nowhere = Path::new("");
        let mut bots = Vec::with_capacity(self.seats.len());
        for plan in &self.seats {
            bots.push(match plan {
                SeatPlan::Person => prepare(&BotSource::Human, &self.context(nowhere), &mut |_| {})?,
                SeatPlan::House(name) => PreparedBot::house(name),
                SeatPlan::Submitted(bot) => {
                    let source = BotSource::parse(&bot.spec, &bot.folder)?;
                    let mut prepared = prepare(&source, &self.context(&bot.folder), &mut |_| {})?;
                    prepared.rename(&bot.seat.name);
                    prepared
                }
                SeatPlan::Prepared(player) => {
                    let mut bot = prepare(&BotSource::Human, &self.context(nowhere), &mut |_| {})?;
                    bot.player = (**player).clone();
                    bot
                }
            });
        }
        // Bots of the command line are isolated already.
        if self.seats.iter().any(|plan| matches!(plan, SeatPlan::Submitted(_))) {
            isolate(&mut bots, &self.context(nowhere))?;
        }
        let wanted = self.seats.iter().zip(person_names).map(|(plan, name)| plan.bot_name().unwrap_or(name));
        let names = different_names(wanted);
        Ok((bots.into_iter().map(|bot| bot.player).collect(), names))
    }

    fn context<'c>(&'c self, folder: &'c Path) -> PrepareContext<'c> {
        PrepareContext {
            game: self.info().id,
            folder,
            sandbox: SandboxMode::On,
            keep_data: false,
            extra_file: None,
            settings: Some((&self.settings, &self.assets)),
            // The limit of its competition was checked when the bot was submitted.
            archive_limits: ArchiveLimits::of_packed_bytes(MAX_UPLOAD_BYTES),
        }
    }

    /// Names of settings whose value tells what is hidden from players: those that are drawn at random by default.
    pub fn is_hidden_setting(info: &GameInfo, name: &str) -> bool {
        let drawn = |default| matches!(default, SettingDefault::Drawn(_));
        info.settings.iter().any(|spec| spec.name == name && drawn(spec.default))
    }

    /// Role of a seat.
    pub fn role(&self, seat: usize) -> &'static str {
        self.info().role(Seat(u8::try_from(seat).unwrap_or(u8::MAX))).name
    }
}

/// The names, numbered where they are equal.
pub fn different_names<'n>(wanted: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in wanted {
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let free = std::iter::once(name.to_owned())
            .chain(numbered)
            .find(|candidate| !names.contains(candidate))
            .unwrap_or_default();
        names.push(free);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_are_numbered() {
        let names = different_names(["Ada", "random", "Ada", "Ada-2", "Ada"].into_iter());
        assert_eq!(names, ["Ada", "random", "Ada-2", "Ada-2-2", "Ada-3"]);
    }

    #[test]
    fn settings_drawn_at_random_are_hidden() {
        for info in agon_games::infos() {
            for spec in info.settings {
                let drawn = matches!(spec.default, SettingDefault::Drawn(_));
                assert_eq!(SessionSetup::is_hidden_setting(info, spec.name), drawn, "{}", spec.name);
            }
            assert!(!SessionSetup::is_hidden_setting(info, "no-such-setting"));
        }
    }
}
