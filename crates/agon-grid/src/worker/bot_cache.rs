//! Loaded phases on a worker: the game, its settings and files, and the bots, loaded once and reused.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use agon_bots::prepare::ExtraFile;
use agon_bots::source::archive::ArchiveLimits;
use agon_bots::{BotSource, Diagnostic, PrepareContext, PreparedBot, SandboxMode, package, prepare};
use agon_core::LockIgnoringPoison as _;
use agon_core::{Assets, GameInfo, Settings, SettingsError};
use agon_engine::AnyGame;
use agon_host::ScratchDir;
use agon_runner::LoadedEntrant;
use agon_runner::match_progress::ResolvedPart;

use super::blob_fetcher::{BlobFetcher, JobFailure};
use super::bot_data::BotDataState;
use crate::messages::{Hash, PROTOCOL, PhaseBot, PhaseSpec, decode};
use crate::needs;

/// A phase is dropped after this time without a match.
const PHASE_IDLE_TIMEOUT: Duration = Duration::from_mins(5);
/// Maximum number of loaded phases.
const MAX_CACHED_PHASES: usize = 8;

/// Loaded phases, by the hash of their [`PhaseSpec`].
#[derive(Default)]
pub struct PhaseCaches(Mutex<HashMap<Hash, (Arc<BotCache>, Instant)>>);

impl PhaseCaches {
    /// The phase with this [`PhaseSpec`]. Loads it if needed.
    pub fn get(
        &self,
        name: &str,
        competition_id: &str,
        blobs: &BlobFetcher,
        allow_unsandboxed: bool,
    ) -> Result<Arc<BotCache>, JobFailure> {
        if let Some((phase, used)) = self.phases().get_mut(name) {
            *used = Instant::now();
            return Ok(Arc::clone(phase));
        }
        let phase = Arc::new(BotCache::load(&blobs.get(name)?, competition_id, blobs, allow_unsandboxed)?);
        let mut phases = self.phases();
        // Another thread may have loaded it meanwhile.
        let (phase, _) = phases.entry(name.to_owned()).or_insert((phase, Instant::now()));
        let phase = Arc::clone(phase);
        while phases.len() > MAX_CACHED_PHASES {
            let oldest = phases.iter().min_by_key(|(_, (_, used))| *used).map(|(name, _)| name.clone());
            oldest.and_then(|name| phases.remove(&name));
        }
        Ok(phase)
    }

    /// Drops phases that were not used for a while.
    pub fn evict_idle(&self) {
        let mut phases = self.phases();
        let old: Vec<_> = phases.extract_if(|_, (_, used)| used.elapsed() > PHASE_IDLE_TIMEOUT).collect();
        drop(phases);
        // Outside the lock, because ending bots takes time.
        drop(old);
    }

    fn phases(&self) -> MutexGuard<'_, HashMap<Hash, (Arc<BotCache>, Instant)>> {
        self.0.lock_ignoring_poison()
    }
}

/// A loaded bot.
pub struct CachedBot {
    /// The entrant, for matches.
    pub loaded: LoadedEntrant,
    /// State of its data folders. Used by one thread at a time.
    pub folders: Mutex<BotDataState>,
    /// Keeps the unpacked files.
    _files: Option<Arc<ScratchDir>>,
}

type OnceSlot<T> = Arc<Mutex<Option<Arc<T>>>>;

/// A loaded phase with its bots.
pub struct BotCache {
    /// Description from the coordinator.
    pub phase_spec: PhaseSpec,
    /// The game.
    pub game: Box<dyn AnyGame>,
    /// Files that settings refer to.
    pub assets: Assets,
    variants: Vec<Vec<ResolvedPart>>,
    allow_unsandboxed: bool,
    /// Bots by thread and entrant. The thread is 0 unless bots keep data from match to match.
    bots: Mutex<HashMap<(usize, u32), OnceSlot<CachedBot>>>,
    packages: Mutex<HashMap<Hash, OnceSlot<ScratchDir>>>,
}

impl BotCache {
    fn load(
        phase_spec: &[u8],
        competition_id: &str,
        blobs: &BlobFetcher,
        allow_unsandboxed: bool,
    ) -> Result<Self, JobFailure> {
        let phase_spec: PhaseSpec = decode(phase_spec)?;
        if phase_spec.protocol != PROTOCOL || phase_spec.competition_id != competition_id {
            return Err(JobFailure::failed(format!(
                "the phase spec of {} does not belong to {competition_id}, or has another version",
                phase_spec.competition_id
            )));
        }
        let missing = needs::missing(&phase_spec.needs);
        if !missing.is_empty() {
            let what =
                format!("the bots need programs that this machine lacks: {}", needs::describe(&missing));
            return Err(JobFailure::NotAllowed(what));
        }
        let game = agon_engine::any_game(&phase_spec.game).map_err(Diagnostic::from)?;
        let info = game.info();
        if info.rules_version != phase_spec.rules {
            let (required, ours) = (phase_spec.rules, info.rules_version);
            return Err(JobFailure::failed(format!(
                "{} requires version {required} of the rules; this worker has {ours}",
                phase_spec.game
            )));
        }
        let mut assets = Assets::none();
        for asset in &phase_spec.assets {
            assets.insert(blobs.get(asset)?);
        }
        let mut variants = Vec::new();
        for parts in &phase_spec.variants {
            let mut played = Vec::new();
            for part in parts {
                let settings = parse_settings(info, &part.settings).map_err(Diagnostic::from)?;
                played.push(ResolvedPart { games: part.games, first_to: part.first_to, settings });
            }
            variants.push(played);
        }
        let (bots, packages) = (Mutex::default(), Mutex::default());
        Ok(Self { phase_spec, game, assets, variants, allow_unsandboxed, bots, packages })
    }

    /// Parts of a match of a variant.
    pub fn parts(&self, variant: u32) -> Option<&[ResolvedPart]> {
        self.variants
            .get(variant as usize)
            .or(self.variants.first())
            .map(Vec::as_slice)
            .filter(|parts| !parts.is_empty())
    }

    /// Bot of an entrant. Loads it if needed. Where bots keep data from match to match, each thread has its own copy.
    pub fn bot(
        &self,
        thread: usize,
        entrant: u32,
        blobs: &BlobFetcher,
    ) -> Result<Arc<CachedBot>, JobFailure> {
        let thread = if self.phase_spec.in_order { thread } else { 0 };
        let slot = Arc::clone(lock(&self.bots).entry((thread, entrant)).or_default());
        get_or_make(&slot, || self.load_bot(entrant, blobs))
    }

    fn load_bot(&self, entrant: u32, blobs: &BlobFetcher) -> Result<CachedBot, JobFailure> {
        let Some(one) = self.phase_spec.entrants.get(entrant as usize) else {
            return Err(JobFailure::failed(format!("the phase spec has no entrant {entrant}")));
        };
        let (hash, files, spec, extra_file) = match &one.bot {
            PhaseBot::House(name) => {
                let bot = self.prepare(&BotSource::House(name.clone()), &one.name, None)?;
                return Ok(CachedBot { loaded: bot, folders: Mutex::default(), _files: None });
            }
            PhaseBot::Program { hash, files, spec, extra_file } => (hash, files, spec, extra_file),
        };
        if let Some(mode) = self.phase_spec.stateless.as_deref().filter(|mode| *mode != "strict") {
            let what = format!(
                "this competition requires stateless = \"{mode}\", but this worker supports only \"strict\": update the coordinator"
            );
            return Err(JobFailure::NotAllowed(what));
        }
        if !self.phase_spec.sandbox && !self.allow_unsandboxed {
            let what = "this competition runs bots without the sandbox; to allow that, start this worker with --allow-unguarded";
            return Err(JobFailure::NotAllowed(what.to_owned()));
        }
        let unpacked = self.unpack_package(files, blobs)?;
        let extra_file =
            extra_file.as_ref().map(|(name, hash)| self.unpack_extra_file(name, hash, blobs)).transpose()?;
        let extra_file = extra_file.as_ref().map(|(name, path, _)| ExtraFile { name, path });
        let source =
            BotSource::Package { folder: unpacked.path().to_owned(), spec: spec.clone(), hash: hash.clone() };
        let loaded = self.prepare(&source, &one.name, extra_file)?;
        let folders = Mutex::new(BotDataState::new(&loaded)?);
        Ok(CachedBot { loaded, folders, _files: Some(unpacked) })
    }

    /// Prepares the bot of an entrant, as on the coordinator's machine.
    fn prepare(
        &self,
        source: &BotSource,
        entrant: &str,
        extra_file: Option<ExtraFile<'_>>,
    ) -> Result<LoadedEntrant, JobFailure> {
        let part = self.variants.first().and_then(|parts| parts.first());
        let context = PrepareContext {
            game: &self.phase_spec.game,
            folder: Path::new(""),
            sandbox: if self.phase_spec.sandbox { SandboxMode::On } else { SandboxMode::Off },
            keep_data: false,
            extra_file,
            settings: part.map(|part| (&part.settings, &self.assets)),
            archive_limits: ArchiveLimits::default(),
        };
        let mut bot: PreparedBot = prepare(source, &context, &mut |_| {}).map_err(Diagnostic::from)?;
        bot.rename(entrant);
        Ok(LoadedEntrant {
            name: entrant.to_owned(),
            player: bot.player,
            commit: None,
            extra_file: extra_file.map(|file| file.path.to_owned()),
            says: agon_core::SelfDescription::default(),
        })
    }

    /// Files of a bot, unpacked once.
    fn unpack_package(&self, files: &str, blobs: &BlobFetcher) -> Result<Arc<ScratchDir>, JobFailure> {
        let slot = Arc::clone(lock(&self.packages).entry(files.to_owned()).or_default());
        get_or_make(&slot, || {
            let packed = blobs.get(files)?;
            let folder = ScratchDir::new("parcel")?;
            package::unpack(&packed, folder.path())?;
            Ok(folder)
        })
    }

    /// Extra file of a bot: name, path, and the folder that holds it.
    fn unpack_extra_file(
        &self,
        name: &str,
        hash: &str,
        blobs: &BlobFetcher,
    ) -> Result<(String, PathBuf, Arc<ScratchDir>), JobFailure> {
        let slot = Arc::clone(lock(&self.packages).entry(hash.to_owned()).or_default());
        let folder = get_or_make(&slot, || {
            let folder = ScratchDir::new("beside")?;
            let path = folder.path().join(hash);
            std::fs::write(&path, blobs.get(hash)?)?;
            agon_host::scratch_dir::make_world_readable(folder.path())?;
            Ok(folder)
        })?;
        Ok((name.to_owned(), folder.path().join(hash), folder))
    }
}

/// Parses settings. Skips those with their default value, because defaults such as `drawn` are not valid input.
fn parse_settings(info: &'static GameInfo, pairs: &[(String, String)]) -> Result<Settings, SettingsError> {
    let defaults = Settings::defaults(info.settings);
    let defaults: Vec<(&str, String)> =
        defaults.iter().map(|(name, value)| (name, value.to_string())).collect();
    let changed = pairs.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let changed =
        changed.filter(|(name, text)| !defaults.iter().any(|(known, value)| known == name && value == text));
    Settings::parse(info.settings, changed)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock_ignoring_poison()
}

/// Value of a slot. The first caller makes it while others wait. After an error the next caller tries again.
fn get_or_make<T>(
    slot: &Mutex<Option<Arc<T>>>,
    make: impl FnOnce() -> Result<T, JobFailure>,
) -> Result<Arc<T>, JobFailure> {
    let mut slot = lock(slot);
    if let Some(made) = &*slot {
        return Ok(Arc::clone(made));
    }
    let made = Arc::new(make()?);
    *slot = Some(Arc::clone(&made));
    Ok(made)
}
