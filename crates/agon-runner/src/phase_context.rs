//! Everything that the matches of a phase share: the game, the bots, the settings and the seeds.

use std::path::{Path, PathBuf};

use agon_core::record::Recorder;
use agon_core::{Assets, BotLifetime, SelfDescription, Settings, SettingsError};
use agon_engine::any_game::PlayError;
use agon_engine::{AnyGame, PlayerSpec, Reporter};
use agon_league::config::PhaseConfig;
use agon_league::{Entrant, Fixture, MatchKey};
use agon_store::{FinishedMatch, SecretSeed};

use crate::match_progress::ResolvedPart;
use crate::match_runner::MatchRunner;
use crate::seeds;

/// An entrant with its bot ready to play.
#[derive(Clone, Debug)]
pub struct LoadedEntrant {
    /// Name in tables and records.
    pub name: String,
    /// The bot.
    pub player: PlayerSpec,
    /// Commit that the bot was taken from.
    pub commit: Option<String>,
    /// A file that is added to the bot's folder: the published history of the competition so far.
    pub extra_file: Option<PathBuf>,
    /// What the bot says about itself.
    pub says: SelfDescription,
}

impl LoadedEntrant {
    /// Gives the entrant and its bot another name.
    pub fn rename(&mut self, name: String) {
        if let PlayerSpec::Program(program) = &mut self.player {
            program.name.clone_from(&name);
        }
        self.name = name;
    }

    /// The bot's `data/` folder, if its game allows one.
    pub fn data_dir(&self) -> Option<&Path> {
        match &self.player {
            PlayerSpec::Program(one) if one.logs_dir.is_some() => {
                one.program.writable.first().map(|folder| &*folder.path)
            }
            _ => None,
        }
    }

    /// The bot's `logs/` folder with finished games, if its game allows one.
    pub fn logs_dir(&self) -> Option<&Path> {
        match &self.player {
            PlayerSpec::Program(one) => one.logs_dir.as_deref(),
            _ => None,
        }
    }
}

/// Everything that the matches of a phase share.
pub struct PhaseContext<'h> {
    /// The game.
    pub game: &'h dyn AnyGame,
    /// Files that replace the game's built-in ones.
    pub assets: &'h Assets,
    /// Phase number, from 0.
    pub phase: u32,
    /// Bots, indexed by entrant.
    pub entrants: &'h [LoadedEntrant],
    /// The secret seed that all seeds are derived from.
    pub secret: &'h SecretSeed,
    /// Id of the competition in logs.
    pub competition_id: String,
    /// Whether a match has parts that give points.
    parts_give_points: bool,
    /// Parts of a match, for each variant.
    variants: Vec<Vec<ResolvedPart>>,
}

impl<'h> PhaseContext<'h> {
    /// Creates the context of phase `number`.
    pub fn new(
        game: &'h dyn AnyGame,
        assets: &'h Assets,
        number: u32,
        phase: &PhaseConfig,
        entrants: &'h [LoadedEntrant],
        secret: &'h SecretSeed,
    ) -> Result<Self, SettingsError> {
        let no_variant = [Vec::new()];
        let variants = if phase.variants.is_empty() { &no_variant[..] } else { &phase.variants[..] };
        let variants = variants.iter().map(|pairs| resolve_parts(phase, pairs)).collect::<Result<_, _>>()?;
        let parts_give_points = !phase.parts.is_empty();
        let competition_id = String::new();
        Ok(Self {
            game,
            assets,
            phase: number,
            entrants,
            secret,
            competition_id,
            parts_give_points,
            variants,
        })
    }

    /// Sets the id of the competition that logs use.
    #[must_use]
    pub fn with_competition_id(mut self, competition_id: &str) -> Self {
        competition_id.clone_into(&mut self.competition_id);
        self
    }

    /// Whether matches of a bot must be played in order, because bots keep data from match to match.
    pub fn in_order(&self) -> bool {
        self.game.info().lifetime == BotLifetime::Match
            && self.entrants.iter().any(|one| one.data_dir().is_some())
    }

    /// Entrants that keep nothing from match to match.
    pub fn entrants_without_data(&self) -> Vec<Entrant> {
        let numbered = (0..).map(Entrant).zip(self.entrants);
        numbered.filter(|(_, one)| one.data_dir().is_none()).map(|(entrant, _)| entrant).collect()
    }

    /// Whether a match has parts that give points.
    pub const fn parts_give_points(&self) -> bool {
        self.parts_give_points
    }

    /// Parts of a match, for each variant. There is at least one variant.
    pub fn variants(&self) -> &[Vec<ResolvedPart>] {
        &self.variants
    }

    /// Seed of all fixtures with this seed index.
    pub fn seed(&self, seed_index: u64) -> u64 {
        seeds::game_seed(self.secret, self.phase, seed_index)
    }

    /// Plays a match to its end.
    pub fn play<'p>(
        &self,
        key: MatchKey,
        fixture: &Fixture,
        recorder: &'p mut Recorder,
        reporter: Option<&'p mut (dyn Reporter + 'p)>,
    ) -> Result<FinishedMatch, PlayError> {
        let seats: Vec<(Entrant, &LoadedEntrant)> =
            fixture.seats.iter().filter_map(|&seat| Some((seat, self.entrants.get(seat.index())?))).collect();
        let parts = self.variants.get(fixture.variant as usize).or(self.variants.first());
        let parts = parts.map_or(&[][..], |parts| parts);
        let runner = MatchRunner {
            game: self.game,
            assets: self.assets,
            parts,
            parts_give_points: self.parts_give_points,
        };
        runner.play(key, &seats, self.seed(fixture.seed_index), recorder, reporter)
    }
}

/// Resolves the parts of a match for one variant of a phase.
fn resolve_parts(
    phase: &PhaseConfig,
    variant: &[(String, String)],
) -> Result<Vec<ResolvedPart>, SettingsError> {
    let set = |settings: &Settings, pairs: &[(String, String)]| {
        let pairs = pairs.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        settings.with(pairs)
    };
    let settings = set(&phase.settings, variant)?;
    if phase.parts.is_empty() {
        return Ok(vec![ResolvedPart { games: 1, first_to: 1, settings }]);
    }
    let part = |part: &agon_league::config::MatchPart| {
        let settings = set(&settings, &part.settings)?;
        Ok(ResolvedPart { games: part.games, first_to: part.first_to, settings })
    };
    phase.parts.iter().map(part).collect()
}
