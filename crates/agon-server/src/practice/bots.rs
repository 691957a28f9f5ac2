//! Bots of practice games, ready to play: house bots, and accepted versions of uploaded bots.

use agon_bots::prepare::isolate;
use agon_bots::source::archive::ArchiveLimits;
use agon_bots::{BotSource, PrepareContext, PreparedBot, SandboxMode, prepare};
use agon_core::{Assets, Diagnostic, Settings};
use agon_engine::PlayerSpec;
use agon_site_db::{PlayedSeat, Submission};

use crate::config::Config;
use crate::runs::competition_file;
use crate::uploads::{self, MAX_UPLOAD_BYTES};

/// A bot of a practice game.
#[derive(Clone, Debug)]
pub struct PracticeBotSpec {
    /// Name in the game.
    pub name: String,
    /// Where it comes from.
    pub origin: BotOrigin,
}

/// Where a bot of a practice game comes from.
#[derive(Clone, Debug)]
pub enum BotOrigin {
    /// A house bot, by name.
    House(String),
    /// A version of an uploaded bot.
    Uploaded(Box<Submission>),
}

impl PracticeBotSpec {
    /// The bot in the store of played games.
    pub fn seat(&self) -> PlayedSeat {
        let name = self.name.clone();
        match &self.origin {
            BotOrigin::House(house) => {
                PlayedSeat { name, house: Some(house.clone()), ..PlayedSeat::default() }
            }
            BotOrigin::Uploaded(submission) => PlayedSeat {
                name,
                account: Some(submission.account),
                entrant: Some(submission.entrant),
                submission: Some(submission.id.clone()),
                house: None,
            },
        }
    }
}

/// A bot that cannot play.
#[derive(Debug)]
pub struct BotUnusable {
    /// Its index.
    pub index: usize,
    /// The reason.
    pub error: Diagnostic,
}

/// Prepares the bots of one lineup. They run in the sandbox and cannot see each other's files. `settings` and `assets` define the file that
/// the game gives to its bots.
pub fn prepare_lineup(
    config: &Config,
    game: &str,
    (settings, assets): (&Settings, &Assets),
    bots: &[PracticeBotSpec],
) -> Result<Vec<PlayerSpec>, BotUnusable> {
    let mut prepared = Vec::with_capacity(bots.len());
    for (index, bot) in bots.iter().enumerate() {
        let one = prepare_one(config, game, (settings, assets), bot);
        prepared.push(one.map_err(|error| BotUnusable { index, error })?);
    }
    // No bot takes part twice, so nothing is prepared again.
    let context = context(game, &config.data, (settings, assets));
    isolate(&mut prepared, &context).map_err(|error| BotUnusable { index: 0, error })?;
    Ok(prepared.into_iter().map(|one| one.player).collect())
}

fn prepare_one(
    config: &Config,
    game: &str,
    files: (&Settings, &Assets),
    bot: &PracticeBotSpec,
) -> Result<PreparedBot, Diagnostic> {
    let submission = match &bot.origin {
        BotOrigin::House(house) => return Ok(PreparedBot::house(house)),
        BotOrigin::Uploaded(submission) => submission,
    };
    let spec =
        uploads::bot_spec(config, submission).map_err(|error| Diagnostic::internal(error.message()))?;
    let folder = competition_file::folder(config, &submission.competition).canonicalize()?;
    let source = BotSource::parse(&spec, &folder)?;
    let mut prepared = prepare(&source, &context(game, &folder, files), &mut |_| {})?;
    prepared.rename(&bot.name);
    Ok(prepared)
}

fn context<'c>(
    game: &'c str,
    folder: &'c std::path::Path,
    (settings, assets): (&'c Settings, &'c Assets),
) -> PrepareContext<'c> {
    PrepareContext {
        game,
        folder,
        sandbox: SandboxMode::On,
        keep_data: false,
        extra_file: None,
        settings: Some((settings, assets)),
        // The limit of its competition was checked when it was submitted.
        archive_limits: ArchiveLimits::of_packed_bytes(MAX_UPLOAD_BYTES),
    }
}

/// Removes the path of the data folder from a message, which users must not see.
pub fn hide_data_path(config: &Config, message: &str) -> String {
    let data = config.data.canonicalize().unwrap_or_else(|_| config.data.clone());
    message.replace(&format!("{}/", data.display()), "")
}
