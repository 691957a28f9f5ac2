//! From the name of a file to a competition and its ledger.

use std::fs;
use std::path::{Path, PathBuf};

use agon_bots::error::Failure;
use agon_core::settings::{SettingKind, SettingValue};
use agon_core::{Assets, ErrorKind, GameInfo, Settings};
use agon_engine::AnyGame;
use agon_league::config::{
    CompetitionConfig, CompetitionProgress, ConfigChange, SeedSource, compare_configs,
};
use agon_store::{ConfigVersion, Ledger, NewLedger, PhaseState, SecretSeed, SqliteLedger, Timestamp};
use serde_json::Value as Json;

use crate::file::{self, CompetitionFile};

/// Where a competition is.
#[derive(Clone, Debug)]
pub struct CompetitionPaths {
    /// The file, as it was named.
    pub named: String,
    /// The folder its paths are read from.
    pub folder: PathBuf,
    /// The ledger, where it is a file: beside the competition's file, with its name.
    pub ledger: PathBuf,
}

/// A competition, read and checked.
pub struct LoadedCompetition {
    /// Where it is.
    pub place: CompetitionPaths,
    /// The file's text.
    pub text: String,
    /// What it says.
    pub competition: CompetitionConfig,
    /// Its game.
    pub table: Box<dyn AnyGame>,
    /// The files its settings name.
    pub assets: Assets,
}

impl LoadedCompetition {
    /// Reads a file. Every mistake in it is told at once.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let CompetitionFile { competition, folder, text } = file::load(path)?;
        let name = path.file_name().unwrap_or_default();
        let ledger = folder.join(name).with_extension("ledger");
        Self::with(CompetitionPaths { named: path.display().to_string(), folder, ledger }, text, competition)
    }

    /// Reads a `players.yml`. What comes of it goes into a folder `results` where the bots are.
    pub fn of_players(list: &Path, base: &Path) -> Result<Self, Failure> {
        let competition = file::from_players(list, base)?;
        let base = base.canonicalize()?;
        let results = base.join("results");
        fs::create_dir_all(&results)
            .map_err(|e| Failure::io("make", &results, &e, "is there room, and may you write there?"))?;
        let place = CompetitionPaths {
            named: list.display().to_string(),
            folder: base,
            ledger: results.join("players.ledger"),
        };
        let text = fs::read_to_string(list)?;
        Self::with(place, text, competition)
    }

    /// Of a competition that was read from something else.
    pub fn with(
        place: CompetitionPaths,
        text: String,
        mut competition: CompetitionConfig,
    ) -> Result<Self, Failure> {
        let table = agon_engine::any_game(competition.game)?;
        let mut assets = Assets::none();
        fetch(&place, table.info(), &mut competition.settings, &mut assets)?;
        for phase in &mut competition.phases {
            fetch(&place, table.info(), &mut phase.settings, &mut assets)?;
        }
        Ok(Self { place, text, competition, table, assets })
    }

    /// What is kept of the file.
    fn edition(&self) -> ConfigVersion {
        let normal = self.competition.normalised().to_string();
        ConfigVersion { text: self.text.clone(), normalised: normal, at: Timestamp::now() }
    }

    /// The ledger, made if it is not there. A file that changed in a way that matters is refused.
    pub async fn ledger(&self) -> Result<SqliteLedger, Failure> {
        if self.place.ledger.exists() {
            let ledger = SqliteLedger::open(&self.place.ledger).await?;
            self.check_unchanged(&ledger).await?;
            return Ok(ledger);
        }
        Ok(SqliteLedger::create(&self.place.ledger, &self.founding()?).await?)
    }

    /// What a new ledger starts with.
    pub(super) fn founding(&self) -> Result<NewLedger, Failure> {
        let info = self.table.info();
        Ok(NewLedger {
            name: self.competition.name.clone(),
            game: info.id.to_owned(),
            rules: info.rules_version,
            engine: env!("CARGO_PKG_VERSION").to_owned(),
            config: self.edition(),
            phases: self.competition.phases.len() as u32,
            secret: self.secret()?,
        })
    }

    /// The ledger, for looking at it.
    pub async fn ledger_to_read(&self) -> Result<SqliteLedger, Failure> {
        if !self.place.ledger.exists() {
            let ledger = self.place.ledger.file_name().unwrap_or_default().to_string_lossy();
            let what = format!("{} was not run yet: there is no {ledger} beside it", self.place.named);
            return Err(Failure::wrong_use(what, format!("agon run {}", self.place.named)));
        }
        Ok(SqliteLedger::open_to_read(&self.place.ledger).await?)
    }

    /// The secret seed a new competition starts with.
    fn secret(&self) -> Result<SecretSeed, Failure> {
        let empty = |what: String| Failure::wrong_use(what, "put a long text there that nobody can guess");
        let given = match &self.competition.seed {
            SeedSource::Drawn => return Ok(agon_runner::seeds::generate_secret()?),
            SeedSource::Given(text) => return Ok(SecretSeed::new(text)),
            SeedSource::File(path) => {
                let path = self.place.folder.join(path);
                fs::read_to_string(&path)
                    .map_err(|e| Failure::io("read", &path, &e, "it holds the secret seed"))?
            }
            SeedSource::Variable(name) => std::env::var(name)
                .map_err(|_| empty(format!("the environment variable {name} holds no secret seed")))?,
        };
        match given.trim() {
            "" => Err(empty("the secret seed is empty".to_owned())),
            seed => Ok(SecretSeed::new(seed)),
        }
    }

    /// Whether the file still says what was begun. A harmless change is kept as a new edition.
    pub(super) async fn check_unchanged(&self, ledger: &dyn Ledger) -> Result<(), Failure> {
        let (kept, phases) = (ledger.competition().await?, ledger.phases().await?);
        let info = self.table.info();
        if kept.game == info.id && kept.rules != info.rules_version {
            let (found, known) = (kept.rules, info.rules_version);
            let what =
                format!("{} was begun under version {found} of the rules, this is {known}", self.place.named);
            return Err(Failure::wrong_use(
                what,
                "go on with the Agon it was begun with, or anew with --fresh",
            ));
        }
        let Some(last) = kept.config_versions.last() else { return Ok(()) };
        let new = self.edition();
        if last.normalised == new.normalised {
            return Ok(());
        }
        let old: Json = serde_json::from_str(&last.normalised).unwrap_or_default();
        let changes = compare_configs(&old, &self.competition.normalised());
        let begun = phases.iter().filter(|phase| phase.state > PhaseState::Waiting).count() as u32;
        let all_over = phases.iter().take(begun as usize).all(|phase| phase.state >= PhaseState::Published);
        let next = self.competition.phases.get(begun as usize);
        let progress = CompetitionProgress {
            started_phases: begun,
            waiting_for_bots: all_over && next.is_some_and(|next| next.resubmit),
        };
        let refused: Vec<&ConfigChange> =
            changes.iter().filter(|change| change.is_refused(progress)).collect();
        if refused.is_empty() {
            return Ok(ledger.add_config_version(&new).await?);
        }
        let mut message = format!(
            "{}: changed since the competition was begun; results could not be compared",
            self.place.named
        );
        for change in &refused {
            message += &format!("\n  {change}");
        }
        // A mode that is gone cannot be put back into the file.
        let hint = if refused.iter().any(|change| change.place == "stateless") {
            "this mode was removed: finish with the Agon it was started with, or start again with --fresh (the old ledger is kept)"
        } else {
            "change it back, or begin anew with --fresh (the old ledger is kept)"
        };
        Err(Failure { kind: ErrorKind::Usage, message: format!("{message}\nhint: {hint}") })
    }
}

/// Reads the files that settings name, and lets the settings name their content.
fn fetch(
    place: &CompetitionPaths,
    info: &'static GameInfo,
    settings: &mut Settings,
    assets: &mut Assets,
) -> Result<(), Failure> {
    for spec in info.settings.iter().filter(|spec| spec.kind == SettingKind::Asset) {
        let Some(name) = settings.word(spec.name).filter(|name| *name != "built-in") else { continue };
        if assets.get(name).is_some() {
            continue;
        }
        let path = place.folder.join(name);
        let content = fs::read(&path).map_err(|e| {
            Failure::io("read", &path, &e, &format!("`{}` of {} names it", spec.name, place.named))
        })?;
        settings.set(spec.name, SettingValue::Word(assets.insert(content)));
    }
    Ok(())
}
