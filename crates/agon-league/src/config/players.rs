//! A competition from a list of players, as the game's own tools run it.

use agon_core::{GameInfo, Settings};

use super::{
    CompetitionConfig, EntrantBot, EntrantSpec, MeterRule, PhaseConfig, SandboxRule, SeedSource, StopRule,
};
use crate::format::Format;

impl CompetitionConfig {
    /// Each pair plays twice with the first move swapped. `players` are unique names and bot specs.
    pub fn from_players(
        info: &'static GameInfo,
        players: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        let settings = Settings::defaults(info.settings);
        let entrant = |(name, bot)| EntrantSpec {
            name,
            name_given: true,
            bot: EntrantBot::Spec(bot),
            contributor: None,
            marks: Vec::new(),
            role: None,
        };
        let phase = PhaseConfig {
            name: "Each pair twice".to_owned(),
            format: Format::RoundRobin { legs: 1, swap: true },
            stop: StopRule::Played,
            parts: Vec::new(),
            variants: Vec::new(),
            settings: settings.clone(),
            resubmit: false,
            hidden: None,
            deadline: None,
            freeze: false,
        };
        Self {
            name: info.title.to_owned(),
            game: info.id,
            settings,
            entrants: players.into_iter().map(entrant).collect(),
            phases: vec![phase],
            seed: SeedSource::Drawn,
            sandbox: SandboxRule::Required,
            meter: MeterRule::Any,
            max_bots_per_contributor: None,
            forbidden_libraries: Vec::new(),
            packages: None,
            max_zip_mib: None,
            deadline: None,
            freeze: None,
            presentation: super::Presentation::default(),
        }
    }
}
