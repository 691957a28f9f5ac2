//! Everything that the matches of a phase need on a worker: the game, its settings, and the bots, seated once and used again.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agon_core::{Assets, GameInfo, Settings, SettingsError};
use agon_engine::{ProgramSeat, Seating, Table};
use agon_host::intake::PrivateFolder;
use agon_runner::LoadedEntrant;
use agon_runner::match_progress::ResolvedPart;
use agon_venue::Sandbox;
use agon_venue::parcel::{self, Unpacked};
use agon_venue::seating::{Beside, furnish};

use super::bot_data::BotDataState;
use super::blob_fetcher::{JobFailure, BlobFetcher};
use crate::messages::{PhaseBot, PhaseSpec, Hash, PROTOCOL, decode};

/// A phase that was not played for so long is put away.
const IDLE: Duration = Duration::from_mins(5);
/// And at most so many are kept ready.
const MOST: usize = 8;

/// What is ready to be played, by the hash of its brief.
#[derive(Default)]
pub struct PhaseCaches(Mutex<HashMap<Hash, (Arc<BotCache>, Instant)>>);

impl PhaseCaches {
    /// The one of a brief, made if it is not there.
    pub fn get(&self, name: &str, cup: &str, shelf: &BlobFetcher, unguarded: bool) -> Result<Arc<BotCache>, JobFailure> {
        if let Some((troupe, used)) = self.all().get_mut(name) {
            *used = Instant::now();
            return Ok(Arc::clone(troupe));
        }
        let troupe = Arc::new(BotCache::make(&shelf.get(name)?, cup, shelf, unguarded)?);
        let mut all = self.all();
        // Somebody else may have made the same.
        let (troupe, _) = all.entry(name.to_owned()).or_insert((troupe, Instant::now()));
        let troupe = Arc::clone(troupe);
        while all.len() > MOST {
            let oldest = all.iter().min_by_key(|(_, (_, used))| *used).map(|(name, _)| name.clone());
            oldest.and_then(|name| all.remove(&name));
        }
        Ok(troupe)
    }

    /// Puts away what was not used for a while.
    pub fn tidy(&self) {
        let mut all = self.all();
        let old: Vec<_> = all.extract_if(|_, (_, used)| used.elapsed() > IDLE).collect();
        drop(all);
        // Ending bots may take a moment.
        drop(old);
    }

    fn all(&self) -> MutexGuard<'_, HashMap<Hash, (Arc<BotCache>, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A bot in its seat.
pub struct CachedBot {
    /// For the match.
    pub member: LoadedEntrant,
    /// What it finds before one. Only one thread has it at a time.
    pub bags: Mutex<BotDataState>,
    /// Its files, as they were unpacked.
    _files: Option<Arc<PrivateFolder>>,
}

type Place<T> = Arc<Mutex<Option<Arc<T>>>>;

/// What the matches of a phase have in common.
pub struct BotCache {
    /// As the coordinator says it.
    pub brief: PhaseSpec,
    /// The game.
    pub table: Box<dyn Table>,
    /// Files that settings name.
    pub assets: Assets,
    variants: Vec<Vec<ResolvedPart>>,
    unguarded: bool,
    /// By lane, where bots keep something from match to match, and entrant.
    actors: Mutex<HashMap<(usize, u32), Place<CachedBot>>>,
    parcels: Mutex<HashMap<Hash, Place<PrivateFolder>>>,
}

impl BotCache {
    fn make(brief: &[u8], cup: &str, shelf: &BlobFetcher, unguarded: bool) -> Result<Self, JobFailure> {
        let brief: PhaseSpec = decode(brief)?;
        let failed = |what: String| JobFailure::Failed(what);
        if brief.protocol != PROTOCOL || brief.competition_id != cup {
            return Err(failed(format!(
                "the brief of {} does not belong to {cup}, or is of another version",
                brief.competition_id
            )));
        }
        let table = agon_engine::table(&brief.game).map_err(|error| failed(error.to_string()))?;
        let info = table.info();
        if info.rules_version != brief.rules {
            let (theirs, ours) = (brief.rules, info.rules_version);
            return Err(failed(format!(
                "{} is played by version {theirs} of the rules, this worker has {ours}",
                brief.game
            )));
        }
        let mut assets = Assets::none();
        for asset in &brief.assets {
            assets.insert(shelf.get(asset)?);
        }
        let mut variants = Vec::new();
        for parts in &brief.variants {
            let mut played = Vec::new();
            for part in parts {
                let settings = settings(info, &part.settings).map_err(|error| failed(error.to_string()))?;
                played.push(ResolvedPart { games: part.games, first_to: part.first_to, settings });
            }
            variants.push(played);
        }
        let (actors, parcels) = (Mutex::default(), Mutex::default());
        Ok(Self { brief, table, assets, variants, unguarded, actors, parcels })
    }

    /// The parts of a match on a variant.
    pub fn parts(&self, variant: u32) -> Option<&[ResolvedPart]> {
        self.variants
            .get(variant as usize)
            .or(self.variants.first())
            .map(Vec::as_slice)
            .filter(|parts| !parts.is_empty())
    }

    /// The bot of an entrant, seated if it is not yet. Where bots keep something from match to match each lane has its own.
    pub fn actor(&self, lane: usize, entrant: u32, shelf: &BlobFetcher) -> Result<Arc<CachedBot>, JobFailure> {
        let lane = if self.brief.in_order { lane } else { 0 };
        let place = Arc::clone(lock(&self.actors).entry((lane, entrant)).or_default());
        made_once(&place, || self.seat(entrant, shelf))
    }

    fn seat(&self, entrant: u32, shelf: &BlobFetcher) -> Result<CachedBot, JobFailure> {
        let Some(one) = self.brief.entrants.get(entrant as usize) else {
            return Err(JobFailure::Failed(format!("the brief has no entrant {entrant}")));
        };
        let (bot, files, spec, beside) = match &one.bot {
            PhaseBot::House(name) => {
                let member = LoadedEntrant {
                    name: one.name.clone(),
                    seating: Seating::House(name.clone()),
                    commit: None,
                    extra_file: None,
                };
                return Ok(CachedBot { member, bags: Mutex::default(), _files: None });
            }
            PhaseBot::Program { hash, files, spec, beside } => (hash, files, spec, beside),
        };
        if let Some(mode) = self.brief.stateless.as_deref().filter(|mode| *mode != "strict") {
            let what = format!(
                "this competition wants stateless = \"{mode}\", and this worker knows only \"strict\": update the coordinator"
            );
            return Err(Mishap::Unwilling(what));
        }
        if !self.brief.sandbox && !self.unguarded {
            let what = "this competition runs bots without the sandbox, and this worker does not: it must be started with --allow-unguarded";
            return Err(JobFailure::Unwilling(what.to_owned()));
        }
        let unpacked = self.parcel(files, shelf)?;
        let beside = beside.as_ref().map(|(name, hash)| self.beside(name, hash, shelf)).transpose()?;
        let program = self.program(
            &one.name,
            &Unpacked {
                game: &self.brief.game,
                folder: unpacked.path(),
                spec,
                hash: bot,
                sandbox: if self.brief.sandbox { Sandbox::On } else { Sandbox::Off },
                beside: beside.as_ref().map(|(name, path, _)| Beside { name, path }),
            },
        )?;
        let member = LoadedEntrant {
            name: one.name.clone(),
            seating: program,
            commit: None,
            extra_file: beside.map(|(_, path, _)| path),
        };
        let bags = Mutex::new(BotDataState::of(&member)?);
        Ok(CachedBot { member, bags, _files: Some(unpacked) })
    }

    fn program(&self, name: &str, unpacked: &Unpacked<'_>) -> Result<Seating, JobFailure> {
        let mut seat: ProgramSeat = parcel::seat(unpacked)?;
        name.clone_into(&mut seat.name);
        let mut seats = [Seating::Program(seat)];
        if let Some(part) = self.variants.first().and_then(|parts| parts.first()) {
            furnish(&self.brief.game, &mut seats, &part.settings, &self.assets, unpacked.folder)?;
        }
        let [seat] = seats;
        Ok(seat)
    }

    /// A bot's files, unpacked once.
    fn parcel(&self, files: &str, shelf: &BlobFetcher) -> Result<Arc<PrivateFolder>, JobFailure> {
        let place = Arc::clone(lock(&self.parcels).entry(files.to_owned()).or_default());
        made_once(&place, || {
            let packed = shelf.get(files)?;
            let folder = PrivateFolder::new("parcel")?;
            parcel::unpack(&packed, folder.path())?;
            Ok(folder)
        })
    }

    /// A file that bots find in their folder: its name, where it is, and what keeps it there.
    fn beside(
        &self,
        name: &str,
        hash: &str,
        shelf: &BlobFetcher,
    ) -> Result<(String, PathBuf, Arc<PrivateFolder>), JobFailure> {
        let place = Arc::clone(lock(&self.parcels).entry(hash.to_owned()).or_default());
        let folder = made_once(&place, || {
            let folder = PrivateFolder::new("beside")?;
            let path = folder.path().join(hash);
            std::fs::write(&path, shelf.get(hash)?)?;
            agon_host::intake::private::show_to_all(folder.path())?;
            Ok(folder)
        })?;
        Ok((name.to_owned(), folder.path().join(hash), folder))
    }
}

/// Settings by their names. What stays as it is anyway is not read: `drawn` is no text that anybody could give.
fn settings(info: &'static GameInfo, pairs: &[(String, String)]) -> Result<Settings, SettingsError> {
    let usual = Settings::defaults(info.settings);
    let usual: Vec<(&str, String)> = usual.iter().map(|(name, value)| (name, value.to_string())).collect();
    let changed = pairs.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let changed =
        changed.filter(|(name, text)| !usual.iter().any(|(known, value)| known == name && value == text));
    Settings::parse(info.settings, changed)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is in a place; made by whoever comes first, while others wait. What could not be made is tried again.
fn made_once<T>(
    place: &Mutex<Option<Arc<T>>>,
    make: impl FnOnce() -> Result<T, JobFailure>,
) -> Result<Arc<T>, JobFailure> {
    let mut place = lock(place);
    if let Some(made) = &*place {
        return Ok(Arc::clone(made));
    }
    let made = Arc::new(make()?);
    *place = Some(Arc::clone(&made));
    Ok(made)
}
