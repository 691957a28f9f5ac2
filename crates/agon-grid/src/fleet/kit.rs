//! What workers need for the matches of a phase: its brief, and the files that it names.

use std::path::Path;
use std::sync::Arc;

use agon_core::settings::Kind;
use agon_engine::Seating;
use agon_engine::table::seat_hash;
use agon_league::competition::SandboxRule;
use agon_runner::Member;
use agon_runner::hall::Hall;
use agon_venue::Sitting;
use agon_venue::parcel::{self, Parcel};

use super::sense::Sat;
use crate::GridError;
use crate::blobs::{Blobs, hash};
use crate::wire::{BotBrief, Brief, EntrantBrief, Hash, PROTOCOL, PartBrief, encode};

/// What of a competition every brief says.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Its id on the grid.
    pub cup: String,
    /// Whether bots run behind the sandbox.
    pub sandbox: bool,
    /// The folder that its paths are read from.
    pub folder: std::path::PathBuf,
}

impl Terms {
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
enum Source {
    Bytes(Arc<[u8]>),
    /// The files of this entrant's bot.
    Bot(usize),
}

/// What workers need for the matches of a phase.
#[derive(Clone, Debug)]
pub struct Kit {
    /// Of which phase.
    pub phase: u32,
    /// The brief.
    pub brief: Hash,
    /// Entrants, as records name them.
    pub entrants: Sat,
    files: Vec<(Hash, Source)>,
}

impl Kit {
    /// Packs it, and puts everything where workers find it.
    pub async fn make(terms: &Terms, hall: &Hall<'_>, blobs: &Blobs) -> Result<Self, GridError> {
        let mut files = Vec::new();
        let mut entrants = Vec::new();
        for (number, member) in hall.members.iter().enumerate() {
            let bot = match &member.seating {
                Seating::House(name) => BotBrief::House(name.clone()),
                Seating::Human => {
                    return Err(GridError::WrongUse {
                        what: format!("{} is played by a person", member.name),
                        hint: "people play where they sit: run it without --nats".to_owned(),
                    });
                }
                Seating::Program(_) => {
                    let Some(parcel) = packed(terms, hall, member)? else { continue };
                    let name = blobs.put(&parcel.files).await?;
                    files.push((name.clone(), Source::Bot(number)));
                    let beside = member.beside.as_deref().map(|path| beside(path, &mut files)).transpose()?;
                    BotBrief::Program { hash: parcel.hash, spec: parcel.spec, files: name, beside }
                }
            };
            entrants.push(EntrantBrief { name: member.name.clone(), bot });
        }
        let brief = Brief {
            protocol: PROTOCOL,
            cup: terms.cup.clone(),
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
        files.push((brief.clone(), Source::Bytes(bytes)));
        let info = hall.table.info();
        let names = hall.members.iter().map(|one| (one.name.clone(), seat_hash(info, &one.seating)));
        let kit = Self { phase: hall.phase, brief, entrants: names.collect(), files };
        for (_, source) in &kit.files {
            if let Source::Bytes(bytes) = source {
                blobs.put(bytes).await?;
            }
        }
        Ok(kit)
    }

    /// Puts files there again that were lost: all, or one. Says whether it knows this one.
    pub async fn put(
        &self,
        terms: &Terms,
        hall: &Hall<'_>,
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
                Source::Bytes(bytes) => drop(blobs.put(bytes).await?),
                Source::Bot(number) => {
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
fn packed(terms: &Terms, hall: &Hall<'_>, member: &Member) -> Result<Option<Parcel>, GridError> {
    match &member.seating {
        Seating::Program(seat) => Ok(Some(parcel::pack(hall.table.info().id, seat, &terms.folder)?)),
        Seating::House(_) | Seating::Human => Ok(None),
    }
}

/// The file beside a bot: its name there, and its content.
fn beside(path: &Path, files: &mut Vec<(Hash, Source)>) -> Result<(String, Hash), GridError> {
    let bytes: Arc<[u8]> = std::fs::read(path)?.into();
    let name = hash(&bytes);
    if files.iter().all(|(known, _)| *known != name) {
        files.push((name.clone(), Source::Bytes(bytes)));
    }
    Ok((path.file_name().unwrap_or_default().to_string_lossy().into_owned(), name))
}

fn variants(hall: &Hall<'_>) -> Vec<Vec<PartBrief>> {
    let part = |part: &agon_runner::course::PlayedPart| PartBrief {
        games: part.games,
        first_to: part.first_to,
        settings: part.settings.iter().map(|(name, value)| (name.to_owned(), value.to_string())).collect(),
    };
    hall.variants().iter().map(|parts| parts.iter().map(part).collect()).collect()
}

/// The files that settings name.
fn assets(hall: &Hall<'_>, files: &mut Vec<(Hash, Source)>) -> Vec<Hash> {
    let specs = hall.table.info().settings.iter().filter(|spec| spec.kind == Kind::Asset);
    let mut names = Vec::new();
    for spec in specs {
        for part in hall.variants().iter().flatten() {
            let content = part.settings.word(spec.name).and_then(|name| hall.assets.get(name));
            let Some(content) = content else { continue };
            let name = hash(content);
            if !names.contains(&name) {
                files.push((name.clone(), Source::Bytes(Arc::clone(content))));
                names.push(name);
            }
        }
    }
    names
}
