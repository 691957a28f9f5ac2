//! A competition on the grid, and its requirements for workers.

use std::fmt;
use std::sync::Arc;

use agon_competition::LoadedCompetition;
use agon_core::record::Digest;
use agon_core::{Assets, Diagnostic};
use agon_engine::AnyGame;
use agon_host::sandbox::{LayerKind, REQUIRED};
use agon_league::config::{MeterRule, SandboxRule};

use crate::messages::{Announcement, JoinRequest, PROTOCOL, new_session};
use crate::{GridError, needs, subjects};

/// Grid id of a competition: the id that logs use, as a part of a subject.
pub fn grid_competition_id(name: &str, commitment: Digest) -> String {
    subjects::sanitize_name(&agon_league::competition_id(name, commitment))
}

/// A competition as announced to workers.
#[derive(Clone)]
pub struct GridCompetition {
    /// Grid id.
    pub id: String,
    /// Display name.
    pub name: String,
    /// Required Agon version.
    pub engine: String,
    /// Changes when the coordinator restarts.
    pub session: String,
    /// The game.
    pub game: Arc<dyn AnyGame>,
    /// Files that the settings name.
    pub assets: Assets,
    /// Required sandbox layers.
    pub layers: Vec<&'static str>,
}

impl fmt::Debug for GridCompetition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GridCompetition({})", self.id)
    }
}

impl GridCompetition {
    /// For a competition with this commitment and Agon version.
    pub fn new(
        loaded: &LoadedCompetition,
        game: Arc<dyn AnyGame>,
        commitment: Digest,
        engine: &str,
    ) -> Result<Self, GridError> {
        let competition = &loaded.competition;
        let sandboxed = competition.sandbox == SandboxRule::Required
            && competition.entrants.iter().any(|one| one.bot.house_name().is_none());
        let mut layers: Vec<&'static str> = Vec::new();
        if sandboxed {
            layers.extend(REQUIRED.iter().map(|kind| kind.name()));
            layers.extend((competition.meter == MeterRule::Cgroup).then(|| LayerKind::Cgroup.name()));
        }
        Ok(Self {
            id: grid_competition_id(&competition.name, commitment),
            name: competition.name.clone(),
            engine: engine.to_owned(),
            session: new_session()?,
            game,
            assets: loaded.assets.clone(),
            layers,
        })
    }

    /// The message that announces the competition while a phase with these needs is played. The session differs for other needs, so that
    /// workers ask again.
    pub fn announcement(&self, needs: &[String]) -> Announcement {
        let session = if needs.is_empty() {
            self.session.clone()
        } else {
            format!("{}-{}", self.session, needs.join("+"))
        };
        Announcement {
            needs: needs.to_vec(),
            protocol: PROTOCOL,
            competition_id: self.id.clone(),
            name: self.name.clone(),
            session,
            game: self.game.info().id.to_owned(),
        }
    }

    /// Reason why a worker does not meet the requirements, with a hint.
    pub fn requirement_error(&self, request: &JoinRequest) -> Option<Diagnostic> {
        let required = &self.engine;
        if request.protocol != PROTOCOL || request.engine != *required {
            let what = format!(
                "{} requires Agon {required}; this worker is Agon {} (protocol {}, wanted {PROTOCOL})",
                self.name, request.engine, request.protocol
            );
            return Some(Diagnostic::wrong_use(what, format!("install Agon {required} on this machine")));
        }
        let info = self.game.info();
        match request.rules.get(info.id) {
            Some(rules) if *rules == info.rules_version => {}
            known => {
                let known = known
                    .map_or_else(|| "does not know the game".to_owned(), |one| format!("has version {one}"));
                let what = format!(
                    "{} requires version {} of the rules of {}; this worker {known}",
                    self.name, info.rules_version, info.id
                );
                return Some(Diagnostic::wrong_use(what, "install the Agon version of the coordinator"));
            }
        }
        if !request.missing.is_empty() {
            let what = format!(
                "the bots of {} need programs that this machine lacks: {}",
                self.name,
                needs::describe(&request.missing)
            );
            let hint = "install them on this machine (AGON_PYTHON names the Python of bots), then start the worker again";
            return Some(Diagnostic::wrong_use(what, hint));
        }
        let missing: Vec<&str> = self
            .layers
            .iter()
            .copied()
            .filter(|layer| !request.layers.iter().any(|one| one == layer))
            .collect();
        if missing.is_empty() {
            return None;
        }
        let what = format!(
            "{} requires the sandbox layers {}; this machine lacks {}",
            self.name,
            self.layers.join(", "),
            missing.join(", ")
        );
        Some(Diagnostic::wrong_use(what, "run `agon doctor` on this machine for instructions"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grid_competition_id_is_a_valid_subject_name() {
        let digest = Digest([0xab; 32]);
        assert_eq!(grid_competition_id("Spring: Cup, 2026!", digest), "spring-cup-2026-abababababababab");
        for name in ["", "é", &"long name ".repeat(20)] {
            assert!(subjects::is_valid_name(&grid_competition_id(name, digest)), "{name}");
            assert_eq!(
                grid_competition_id(name, digest),
                agon_league::competition_id(name, digest),
                "{name}"
            );
        }
        assert_ne!(grid_competition_id("a", digest), grid_competition_id("a", Digest([0xac; 32])));
    }
}
