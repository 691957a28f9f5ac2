//! What workers need for the matches of a phase: its brief, and the files that it names.

use std::path::Path;
use std::sync::Arc;

use agon_core::settings::Kind;
use agon_engine::Seating;
use agon_engine::table::seat_hash;
use agon_league::config::SandboxRule;
use agon_runner::LoadedEntrant;
use agon_runner::match_runner::PhaseContext;
use agon_venue::Sitting;
use agon_venue::parcel::{self, Parcel};

use super::validate::SeatBots;
use crate::GridError;
use crate::blobs::{Blobs, hash};
use crate::messages::{PhaseBot, PhaseSpec, PhaseEntrant, Hash, PROTOCOL, PhasePart, encode};

/// What of a competition every brief says.
#[derive(Clone, Debug)]
pub struct PhaseOptions {
    /// Its id on the grid.
    pub cup: String,
    /// Whether bots run behind the sandbox.
    pub sandbox: bool,
    /// The folder that its paths are read from.
    pub folder: std::path::PathBuf,
}

impl PhaseOptions {
    /// Of a competition.
    pub fn new(sitting: &Sitting, cup: String) -> Self {
        Self {
            cup,
            sandbox: sitting.competition.sandbox == SandboxRule::Required,
            folder: sitting.place.folder.clone(),
        }
    }
}

/// Where a file comes from when it is to be put there again.
#[derive(Clone, Debug)]
enum FileSource {
    Bytes(Arc<[u8]>),
    /// The files of this entrant's bot.
    Bot(usize),
}

/// What workers need for the matches of a phase.
#[derive(Clone, Debug)]
pub struct PhaseFiles {
    /// Of which phase.
    pub phase: u32,
    /// The brief.
    pub brief: Hash,
    /// Entrants, as records name them.
    pub entrants: SeatBots,
    files: Vec<(Hash, FileSource)>,
}

impl PhaseFiles {
    /// Packs it, and puts everything where workers find it.
    pub async fn make(terms: &PhaseOptions, hall: &PhaseContext<'_>, blobs: &Blobs) -> Result<Self, GridError> {
        let mut files = Vec::new();
        let mut entrants = Vec::new();
        for (number, member) in hall.members.iter().enumerate() {
            let bot = match &member.seating {
                Seating::House(name) => PhaseBot::House(name.clone()),
                Seating::Human => {
                    return Err(GridError::WrongUse {
                        what: format!("{} is played by a person", member.name),
                        hint: "people play where they sit: run it without --nats".to_owned(),
                    });
                }
                Seating::Program(_) => {
                    let Some(parcel) = packed(terms, hall, member)? else { continue };
                    let name = blobs.put(&parcel.files).await?;
                    files.push((name.clone(), FileSource::Bot(number)));
                    let beside = member.extra_file.as_deref().map(|path| beside(path, &mut files)).transpose()?;
                    PhaseBot::Program { hash: parcel.hash, spec: parcel.spec, files: name, beside }
                }
            };
            entrants.push(PhaseEntrant { name: member.name.clone(), bot });
        }
        let brief = PhaseSpec {
            protocol: PROTOCOL,
            competition_id: terms.cup.clone(),
            game: hall.table.info().id.to_owned(),
            rules: hall.table.info().rules_version,
            phase: hall.phase,
            in_parts: hall.in_parts(),
            variants: variants(hall),
            entrants,
            assets: assets(hall, &mut files),
            sandbox: terms.sandbox,
            stateless: None,
            in_order: hall.in_order(),
        };
        let bytes: Arc<[u8]> = encode(&brief)?.into();
        let brief = hash(&bytes);
        files.push((brief.clone(), FileSource::Bytes(bytes)));
        let info = hall.table.info();
        let names = hall.members.iter().map(|one| (one.name.clone(), seat_hash(info, &one.seating)));
        let kit = Self { phase: hall.phase, brief, entrants: names.collect(), files };
        for (_, source) in &kit.files {
            if let FileSource::Bytes(bytes) = source {
                blobs.put(bytes).await?;
            }
        }
        Ok(kit)
    }

    /// Puts files there again that were lost: all, or one. Says whether it knows this one.
    pub async fn put(
        &self,
        terms: &PhaseOptions,
        hall: &PhaseContext<'_>,
        blobs: &Blobs,
        only: Option<&str>,
    ) -> Result<bool, GridError> {
        let mut known = false;
        for (name, source) in &self.files {
            if only.is_some_and(|only| only != name) {
                continue;
            }
            known = true;
            match source {
                FileSource::Bytes(bytes) => drop(blobs.put(bytes).await?),
                FileSource::Bot(number) => {
                    if let Some(parcel) = packed(terms, hall, &hall.members[*number])? {
                        blobs.put(&parcel.files).await?;
                    }
                }
            }
        }
        Ok(known)
    }
}

/// A bot, packed; nothing if it has no files.
fn packed(terms: &PhaseOptions, hall: &PhaseContext<'_>, member: &LoadedEntrant) -> Result<Option<Parcel>, GridError> {
    match &member.seating {
        Seating::Program(seat) => Ok(Some(parcel::pack(hall.table.info().id, seat, &terms.folder)?)),
        Seating::House(_) | Seating::Human => Ok(None),
    }
}

/// The file beside a bot: its name there, and its content.
fn beside(path: &Path, files: &mut Vec<(Hash, FileSource)>) -> Result<(String, Hash), GridError> {
    let bytes: Arc<[u8]> = std::fs::read(path)?.into();
    let name = hash(&bytes);
    if files.iter().all(|(known, _)| *known != name) {
        files.push((name.clone(), FileSource::Bytes(bytes)));
    }
    Ok((path.file_name().unwrap_or_default().to_string_lossy().into_owned(), name))
}

fn variants(hall: &PhaseContext<'_>) -> Vec<Vec<PhasePart>> {
    let part = |part: &agon_runner::match_progress::ResolvedPart| PhasePart {
        games: part.games,
        first_to: part.first_to,
        settings: part.settings.iter().map(|(name, value)| (name.to_owned(), value.to_string())).collect(),
    };
    hall.variants().iter().map(|parts| parts.iter().map(part).collect()).collect()
}

/// The files that settings name.
fn assets(hall: &PhaseContext<'_>, files: &mut Vec<(Hash, FileSource)>) -> Vec<Hash> {
    let specs = hall.table.info().settings.iter().filter(|spec| spec.kind == Kind::Asset);
    let mut names = Vec::new();
    for spec in specs {
        for part in hall.variants().iter().flatten() {
            let content = part.settings.word(spec.name).and_then(|name| hall.assets.get(name));
            let Some(content) = content else { continue };
            let name = hash(content);
            if !names.contains(&name) {
                files.push((name.clone(), FileSource::Bytes(Arc::clone(content))));
                names.push(name);
            }
        }
    }
    names
}
