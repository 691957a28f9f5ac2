//! Files that workers need for a phase: its [`PhaseSpec`], and the files that it refers to.

use std::path::Path;
use std::sync::Arc;

use agon_bots::package::{self, BotPackage};
use agon_competition::LoadedCompetition;
use agon_core::settings::SettingKind;
use agon_engine::PlayerSpec;
use agon_engine::any_game::bot_hash;
use agon_league::config::SandboxRule;
use agon_runner::LoadedEntrant;
use agon_runner::phase_context::PhaseContext;

use super::validate::SeatBots;
use crate::blobs::{Blobs, hash};
use crate::messages::{Hash, PROTOCOL, PhaseBot, PhaseEntrant, PhasePart, PhaseSpec, encode};
use crate::{GridError, needs};

/// Competition-wide content of every [`PhaseSpec`].
#[derive(Clone, Debug)]
pub struct PhaseOptions {
    /// Grid id of the competition.
    pub competition_id: String,
    /// Whether bots run in the sandbox.
    pub sandbox: bool,
    /// Folder that relative paths refer to.
    pub folder: std::path::PathBuf,
}

impl PhaseOptions {
    /// For a competition.
    pub fn new(loaded: &LoadedCompetition, competition_id: String) -> Self {
        Self {
            competition_id,
            sandbox: loaded.competition.sandbox == SandboxRule::Required,
            folder: loaded.place.folder.clone(),
        }
    }
}

/// Source of a file, to upload it again.
#[derive(Clone, Debug)]
enum FileSource {
    Bytes(Arc<[u8]>),
    /// Packed files of this entrant's bot.
    Bot(usize),
}

/// Files that workers need for a phase.
#[derive(Clone, Debug)]
pub struct PhaseFiles {
    /// Phase number.
    pub phase: u32,
    /// Blob of the [`PhaseSpec`].
    pub phase_spec: Hash,
    /// Entrants as named in records.
    pub entrants: SeatBots,
    /// Programs that the bots need.
    pub needs: Vec<String>,
    files: Vec<(Hash, FileSource)>,
}

impl PhaseFiles {
    /// Packs and uploads all files.
    pub async fn create(
        options: &PhaseOptions,
        phase: &PhaseContext<'_>,
        blobs: &Blobs,
    ) -> Result<Self, GridError> {
        let mut files = Vec::new();
        let mut entrants = Vec::new();
        for (number, entrant) in phase.entrants.iter().enumerate() {
            let bot = match &entrant.player {
                PlayerSpec::House(name) => PhaseBot::House(name.clone()),
                PlayerSpec::Human => {
                    return Err(GridError::Usage {
                        what: format!("{} is a human player", entrant.name),
                        hint: "run it without --nats: humans can only play locally".to_owned(),
                    });
                }
                PlayerSpec::Program(_) => {
                    let Some(package) = pack_bot(options, phase, entrant)? else { continue };
                    let name = blobs.put(&package.files).await?;
                    files.push((name.clone(), FileSource::Bot(number)));
                    let extra_file = entrant
                        .extra_file
                        .as_deref()
                        .map(|path| add_extra_file(path, &mut files))
                        .transpose()?;
                    PhaseBot::Program { hash: package.hash, spec: package.spec, files: name, extra_file }
                }
            };
            entrants.push(PhaseEntrant { name: entrant.name.clone(), bot });
        }
        let phase_spec = PhaseSpec {
            protocol: PROTOCOL,
            competition_id: options.competition_id.clone(),
            game: phase.game.info().id.to_owned(),
            rules: phase.game.info().rules_version,
            phase: phase.phase,
            in_parts: phase.parts_give_points(),
            variants: variants(phase),
            entrants,
            assets: collect_assets(phase, &mut files),
            sandbox: options.sandbox,
            stateless: None,
            in_order: phase.in_order(),
            needs: needs::of_entrants(phase.entrants),
        };
        let needs = phase_spec.needs.clone();
        let bytes: Arc<[u8]> = encode(&phase_spec)?.into();
        let phase_spec = hash(&bytes);
        files.push((phase_spec.clone(), FileSource::Bytes(bytes)));
        let info = phase.game.info();
        let names = phase.entrants.iter().map(|one| (one.name.clone(), bot_hash(info, &one.player)));
        let phase_files = Self { phase: phase.phase, phase_spec, entrants: names.collect(), needs, files };
        for (_, source) in &phase_files.files {
            if let FileSource::Bytes(bytes) = source {
                blobs.put(bytes).await?;
            }
        }
        Ok(phase_files)
    }

    /// Uploads all files again, or only one. Returns whether the file is known.
    pub async fn upload(
        &self,
        options: &PhaseOptions,
        phase: &PhaseContext<'_>,
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
                    if let Some(package) = pack_bot(options, phase, &phase.entrants[*number])? {
                        blobs.put(&package.files).await?;
                    }
                }
            }
        }
        Ok(known)
    }
}

/// Packs a bot. `None` if it has no files.
fn pack_bot(
    options: &PhaseOptions,
    phase: &PhaseContext<'_>,
    entrant: &LoadedEntrant,
) -> Result<Option<BotPackage>, GridError> {
    match &entrant.player {
        PlayerSpec::Program(seat) => Ok(Some(package::pack(phase.game.info().id, seat, &options.folder)?)),
        PlayerSpec::House(_) | PlayerSpec::Human => Ok(None),
    }
}

/// Adds the extra file of a bot. Returns its name and hash.
fn add_extra_file(path: &Path, files: &mut Vec<(Hash, FileSource)>) -> Result<(String, Hash), GridError> {
    let bytes: Arc<[u8]> = std::fs::read(path)?.into();
    let name = hash(&bytes);
    if files.iter().all(|(known, _)| *known != name) {
        files.push((name.clone(), FileSource::Bytes(bytes)));
    }
    Ok((path.file_name().unwrap_or_default().to_string_lossy().into_owned(), name))
}

fn variants(phase: &PhaseContext<'_>) -> Vec<Vec<PhasePart>> {
    let part = |part: &agon_runner::match_progress::ResolvedPart| PhasePart {
        games: part.games,
        first_to: part.first_to,
        settings: part.settings.iter().map(|(name, value)| (name.to_owned(), value.to_string())).collect(),
    };
    phase.variants().iter().map(|parts| parts.iter().map(part).collect()).collect()
}

/// Adds the files that settings refer to.
fn collect_assets(phase: &PhaseContext<'_>, files: &mut Vec<(Hash, FileSource)>) -> Vec<Hash> {
    let specs = phase.game.info().settings.iter().filter(|spec| spec.kind == SettingKind::Asset);
    let mut names = Vec::new();
    for spec in specs {
        for part in phase.variants().iter().flatten() {
            let content = part.settings.word(spec.name).and_then(|name| phase.assets.get(name));
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
