//! What a competition is on the grid, and what it asks of those who want to play.

use agon_core::record::Digest;
use agon_host::sandbox::REQUIRED;
use agon_league::config::{BotSource, SandboxRule};
use agon_venue::Sitting;

use crate::messages::{Announcement, JoinRequest, PROTOCOL, new_session};
use crate::{GridError, subjects};

/// Digits of the commitment in an id: nobody makes two competitions of the same.
const DIGITS: usize = 16;

/// The id of a competition on the grid: its name, tamed, and what its secret seed hashes to.
pub fn grid_competition_id(name: &str, commitment: Digest) -> String {
    let digits = commitment.hex();
    let slug: String = name
        .to_lowercase()
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("-")
        .chars()
        .take(30)
        .collect();
    let slug = slug.trim_matches('-');
    subjects::name_of(&format!("{}-{}", if slug.is_empty() { "cup" } else { slug }, &digits[..DIGITS]))
}

/// A competition, as workers hear of it.
#[derive(Clone, Debug)]
pub struct GridCompetition {
    /// Its id on the grid.
    pub id: String,
    /// For people.
    pub name: String,
    /// The version of Agon that it is played by.
    pub engine: String,
    /// Changes when the coordinator starts anew.
    pub session: String,
    /// The game's id.
    pub game: &'static str,
    /// The version of its rules.
    pub rules: u32,
    /// Layers of the sandbox that every worker must have.
    pub layers: Vec<&'static str>,
}

impl GridCompetition {
    /// Of a competition whose secret seed hashes to this, played by this version of Agon.
    pub fn new(sitting: &Sitting, commitment: Digest, engine: &str) -> Result<Self, GridError> {
        let competition = &sitting.competition;
        let is_program = |bot: &BotSource| !matches!(bot, BotSource::Given(bot) if bot.starts_with("house:"));
        let guarded = competition.sandbox == SandboxRule::Required
            && competition.entrants.iter().any(|one| is_program(&one.bot));
        let layers = if guarded { REQUIRED.iter().map(|kind| kind.name()).collect() } else { Vec::new() };
        Ok(Self {
            id: grid_competition_id(&competition.name, commitment),
            name: competition.name.clone(),
            engine: engine.to_owned(),
            session: new_session()?,
            game: competition.game,
            rules: sitting.table.info().rules_version,
            layers,
        })
    }

    /// What is said to everybody.
    pub fn call(&self) -> Announcement {
        Announcement {
            protocol: PROTOCOL,
            competition_id: self.id.clone(),
            name: self.name.clone(),
            session: self.session.clone(),
            game: self.game.to_owned(),
        }
    }

    /// Why a worker cannot play, whoever it is; for people, with what to do.
    pub fn requirement_error(&self, hello: &JoinRequest) -> Option<String> {
        let ours = &self.engine;
        if hello.protocol != PROTOCOL || hello.engine != *ours {
            return Some(format!(
                "{} is played by Agon {ours}, this worker is Agon {} (protocol {}, wanted {PROTOCOL})\n\
                 hint: install Agon {ours} on this machine",
                self.name, hello.engine, hello.protocol
            ));
        }
        match hello.rules.get(self.game) {
            Some(rules) if *rules == self.rules => {}
            known => {
                let known = known
                    .map_or_else(|| "does not know the game".to_owned(), |one| format!("has version {one}"));
                return Some(format!(
                    "{} is played by version {} of the rules of {}; this worker {known}\n\
                     hint: install the Agon that the coordinator runs",
                    self.name, self.rules, self.game
                ));
            }
        }
        let missing: Vec<&str> = self
            .layers
            .iter()
            .copied()
            .filter(|layer| !hello.layers.iter().any(|one| one == layer))
            .collect();
        if missing.is_empty() {
            return None;
        }
        Some(format!(
            "{} needs a sandbox with {} around its bots; this machine lacks {}\n\
             hint: `agon doctor` on this machine says how to get it",
            self.name,
            self.layers.join(", "),
            missing.join(", ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_can_stand_in_a_subject() {
        let digest = Digest([0xab; 32]);
        assert_eq!(grid_competition_id("Spring: Cup, 2026!", digest), "spring-cup-2026-abababababababab");
        for name in ["", "é", &"long name ".repeat(20)] {
            assert!(subjects::is_name(&grid_competition_id(name, digest)), "{name}");
        }
        assert_ne!(grid_competition_id("a", digest), grid_competition_id("a", Digest([0xac; 32])));
    }
}
