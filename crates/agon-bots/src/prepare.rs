//! Prepares a bot: from where it comes from to a player that can be seated.

use std::path::Path;

use agon_core::{Assets, SelfDescription, Settings};
use agon_engine::any_game::{MatchSetup, PlayError};
use agon_engine::{AnyGame, BotLoadError, PlayerSpec, ProgramSpec};
use agon_host::BotRejection;

use crate::bot_source::BotSource;
use crate::error::Diagnostic;
use crate::resolve::Resolver;
use crate::source::archive::ArchiveLimits;
use crate::source::git::Repository;
use crate::{MessageSink, isolation, package};

/// Whether programs run in the sandbox.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum SandboxMode {
    /// In the sandbox, with all available layers; fails if a required layer is missing.
    On,
    /// Without the sandbox, like any other program of yours.
    Off,
}

/// What [`prepare`] needs to know besides the source.
#[derive(Clone, Copy, Debug)]
pub struct PrepareContext<'c> {
    /// Id of the game.
    pub game: &'c str,
    /// Base folder for relative paths and commands; empty means the current folder.
    pub folder: &'c Path,
    /// Whether the bot runs in the sandbox.
    pub sandbox: SandboxMode,
    /// Whether the bot's data is kept in its folder.
    pub keep_data: bool,
    /// Additional file in the bot's folder.
    pub extra_file: Option<ExtraFile<'c>>,
    /// Settings of the game and the files that they name. They define the content of the file that the game gives to its bots; without
    /// them it has its default content.
    pub settings: Option<(&'c Settings, &'c Assets)>,
    /// How large a `.zip` may be.
    pub archive_limits: ArchiveLimits,
}

/// A bot that can be seated.
#[derive(Clone, Debug)]
pub struct PreparedBot {
    /// Where it comes from. For a bot in a git repository, its place in the files of the commit.
    pub source: BotSource,
    /// The player to seat.
    pub player: PlayerSpec,
    /// Commit of the git repository, if it comes from one.
    pub commit: Option<String>,
}

impl PreparedBot {
    fn new(source: &BotSource, player: PlayerSpec) -> Self {
        Self { source: source.clone(), player, commit: None }
    }

    /// A house bot.
    pub fn house(name: &str) -> Self {
        Self::new(&BotSource::House(name.to_owned()), PlayerSpec::House(name.to_owned()))
    }

    /// The program, if it is neither a house bot nor a human.
    pub const fn program(&self) -> Option<&ProgramSpec> {
        match &self.player {
            PlayerSpec::Program(program) => Some(program),
            PlayerSpec::House(_) | PlayerSpec::Human => None,
        }
    }

    /// Gives a program the name of its entrant.
    pub fn rename(&mut self, name: &str) {
        if let PlayerSpec::Program(program) = &mut self.player {
            name.clone_into(&mut program.name);
        }
    }
}

/// A file that Agon adds to a bot's folder: the published history of the competition.
#[derive(Clone, Copy, Debug)]
pub struct ExtraFile<'b> {
    /// Name in the bot's folder.
    pub name: &'b str,
    /// Path of the file.
    pub path: &'b Path,
}

/// Reason why a bot cannot be prepared.
#[derive(Debug)]
pub enum PrepareError {
    /// The bot is not accepted.
    Refused {
        /// Bot spec as the user wrote it.
        bot: String,
        /// Reason.
        rejection: Box<BotRejection>,
    },
    /// The git repository of an entrant gives no files.
    Repository {
        /// Name of the entrant.
        entrant: String,
        /// Reason.
        rejection: Box<BotRejection>,
    },
    /// Any other failure.
    Failed(Diagnostic),
}

impl PrepareError {
    /// The same, with the name of the bot on the machine that packed it.
    pub(crate) fn named(self, bot: &str) -> Self {
        match self {
            Self::Refused { rejection, .. } => Self::Refused { bot: bot.to_owned(), rejection },
            other => other,
        }
    }
}

impl From<Diagnostic> for PrepareError {
    fn from(failure: Diagnostic) -> Self {
        Self::Failed(failure)
    }
}

impl From<PrepareError> for Diagnostic {
    fn from(error: PrepareError) -> Self {
        match error {
            PrepareError::Refused { bot: named, rejection }
            | PrepareError::Repository { entrant: named, rejection } => rejection.of_bot(&named),
            PrepareError::Failed(failure) => failure,
        }
    }
}

/// Prepares a bot: finds and reads its files, computes its content hash, puts it into the sandbox, and adds the game's file and
/// the additional file to its folder. All commands, the server and workers get their bots from here. Nothing of the bot runs yet; see
/// [`try_load`].
pub fn prepare(
    source: &BotSource,
    context: &PrepareContext<'_>,
    notify: MessageSink<'_>,
) -> Result<PreparedBot, PrepareError> {
    let bot = source.to_string();
    let resolver = Resolver { bot: &bot, context };
    let program = match source {
        BotSource::House(name) => {
            return Ok(PreparedBot::new(source, PlayerSpec::House(name.clone())));
        }
        BotSource::Human => return Ok(PreparedBot::new(source, PlayerSpec::Human)),
        BotSource::Git { entrant, repository, branch, path } => {
            let repository = Repository::new(context.folder, entrant, repository, branch.as_deref());
            let checkout = repository.checkout().map_err(|rejection| PrepareError::Repository {
                entrant: entrant.clone(),
                rejection: Box::new(rejection),
            })?;
            let inner = BotSource::parse(&checkout.bot(path.as_deref()), context.folder)?;
            let prepared = prepare(&inner, context, notify)?;
            return Ok(PreparedBot { commit: Some(checkout.commit), ..prepared });
        }
        BotSource::Package { folder, spec, hash } => {
            let program = package::prepare_unpacked(folder, spec, hash, context)?;
            return Ok(PreparedBot::new(source, PlayerSpec::Program(program)));
        }
        BotSource::Manifest(_) => resolver.resolve_manifest(notify),
        BotSource::Python { path, class } => resolver.resolve_python_path(path, class.as_deref(), notify),
        BotSource::Zip { path, class } => resolver.resolve_zip(path, class.as_deref()),
        BotSource::PlayersYml { list, entry } => {
            let player = resolver.resolve_players_yml(list, entry.as_deref());
            return Ok(PreparedBot::new(source, player.map_err(|trouble| trouble.of(&bot))?));
        }
        BotSource::Command { command, json_lines } => resolver.resolve_command(command, *json_lines),
    };
    let program = program.map_err(|trouble| trouble.of(&bot))?;
    Ok(PreparedBot::new(source, PlayerSpec::Program(program)))
}

/// Isolates the bots of one lineup or competition from each other. The files of each bot are hidden from the others. If a bot plays
/// itself, each seat but the first gets a separate, temporary `data/`, because two processes must not write to one folder. Bots from packages are isolated already: a
/// package says what is hidden from its bot.
pub fn isolate(bots: &mut [PreparedBot], context: &PrepareContext<'_>) -> Result<(), Diagnostic> {
    let mut taken = Vec::new();
    for bot in &mut *bots {
        let data = bot.program().and_then(|program| program.program.writable.first());
        let data = data.map(|folder| folder.path.clone());
        if data.as_ref().is_some_and(|data| taken.contains(data)) {
            let context = PrepareContext { keep_data: false, ..*context };
            // Messages were already sent when the bot was prepared first.
            bot.player = prepare(&bot.source, &context, &mut |_| {})?.player;
        }
        taken.extend(data);
    }
    isolation::hide_other_bots(bots.iter_mut().map(|bot| &mut bot.player).collect())
}

/// Starts every program once, so that a bot that does not start is rejected before any game. Returns what the bots say about
/// themselves, in seat order.
pub fn try_load(table: &dyn AnyGame, plan: &MatchSetup<'_>) -> Result<Vec<SelfDescription>, Diagnostic> {
    table.try_load(plan).map_err(|error| match error {
        PlayError::BotLoad(BotLoadError { seat, rejection: refusal }) => {
            refusal.of_bot(&plan.seats[seat.index()].spec())
        }
        other => other.into(),
    })
}

#[cfg(test)]
mod tests;
