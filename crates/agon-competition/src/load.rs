//! Loads a competition and its ledger.

use std::fs;
use std::path::{Path, PathBuf};

use agon_bots::error::Diagnostic;
use agon_bots::source::players_yml::RESULTS_FOLDER;
use agon_core::settings::{SettingKind, SettingValue};
use agon_core::{Assets, GameInfo, Settings};
use agon_engine::AnyGame;
use agon_league::config::{
    CompetitionConfig, CompetitionProgress, ConfigChange, SeedSource, compare_configs,
};
use agon_store::{ConfigVersion, Ledger, NewLedger, PhaseState, SecretSeed, SqliteLedger, Timestamp};
use serde_json::Value as Json;

use crate::file::{self, CompetitionFile};

/// Paths of a competition.
#[derive(Clone, Debug)]
pub struct CompetitionPaths {
    /// Competition file as the user wrote it.
    pub named: String,
    /// Base folder of relative paths in the file.
    pub folder: PathBuf,
    /// Ledger file: beside the competition file, with the same name.
    pub ledger: PathBuf,
}

/// A competition, parsed and checked.
pub struct LoadedCompetition {
    /// Paths of the competition.
    pub place: CompetitionPaths,
    /// Text of the file.
    pub text: String,
    /// Parsed file.
    pub competition: CompetitionConfig,
    /// The game.
    pub table: Box<dyn AnyGame>,
    /// Files that the settings name.
    pub assets: Assets,
}

impl LoadedCompetition {
    /// Reads a competition file. Reports all mistakes at once.
    pub fn read(path: &Path) -> Result<Self, Diagnostic> {
        let CompetitionFile { competition, folder, text } = file::load(path)?;
        let name = path.file_name().unwrap_or_default();
        let ledger = folder.join(name).with_extension("ledger");
        Self::with(CompetitionPaths { named: path.display().to_string(), folder, ledger }, text, competition)
    }

    /// Reads a `players.yml`. Results go to a folder `results` beside the bots.
    pub fn of_players(list: &Path, base: &Path) -> Result<Self, Diagnostic> {
        let competition = file::from_players(list, base)?;
        let base = base.canonicalize()?;
        let results = base.join(RESULTS_FOLDER);
        fs::create_dir_all(&results)
            .map_err(|e| Diagnostic::io("create", &results, &e, "check disk space and write permission"))?;
        let place = CompetitionPaths {
            named: list.display().to_string(),
            folder: base,
            ledger: results.join("players.ledger"),
        };
        let text = fs::read_to_string(list)?;
        Self::with(place, text, competition)
    }

    /// A competition with an already parsed configuration.
    pub fn with(
        place: CompetitionPaths,
        text: String,
        mut competition: CompetitionConfig,
    ) -> Result<Self, Diagnostic> {
        let table = agon_engine::any_game(competition.game)?;
        let mut assets = Assets::none();
        read_assets(&place, table.info(), &mut competition.settings, &mut assets)?;
        for phase in &mut competition.phases {
            read_assets(&place, table.info(), &mut phase.settings, &mut assets)?;
        }
        Ok(Self { place, text, competition, table, assets })
    }

    /// Version of the file, as stored in the ledger.
    fn config_version(&self) -> ConfigVersion {
        let normal = self.competition.normalised().to_string();
        ConfigVersion { text: self.text.clone(), normalised: normal, at: Timestamp::now() }
    }

    /// Opens the ledger, and creates it if needed. Fails if the file changed in a way that affects results.
    pub async fn ledger(&self) -> Result<SqliteLedger, Diagnostic> {
        if self.has_ledger_file()? {
            let ledger = SqliteLedger::open(&self.place.ledger).await?;
            self.check_unchanged(&ledger).await?;
            return Ok(ledger);
        }
        Ok(SqliteLedger::create(&self.place.ledger, &self.new_ledger()?).await?)
    }

    /// Whether the ledger file exists. A folder that cannot be read is an error: the ledger may be in it.
    pub(super) fn has_ledger_file(&self) -> Result<bool, Diagnostic> {
        let ledger = &self.place.ledger;
        let hint = "check the permissions of the folder, and whether its disk is mounted";
        ledger.try_exists().map_err(|e| Diagnostic::io("look for", ledger, &e, hint))
    }

    /// Content of a new ledger.
    pub(super) fn new_ledger(&self) -> Result<NewLedger, Diagnostic> {
        let info = self.table.info();
        Ok(NewLedger {
            name: self.competition.name.clone(),
            game: info.id.to_owned(),
            rules: info.rules_version,
            engine: env!("CARGO_PKG_VERSION").to_owned(),
            config: self.config_version(),
            phases: self.competition.phases.len() as u32,
            secret: self.secret_seed()?,
        })
    }

    /// Opens the ledger for reading.
    pub async fn ledger_to_read(&self) -> Result<SqliteLedger, Diagnostic> {
        if !self.has_ledger_file()? {
            let ledger = self.place.ledger.file_name().unwrap_or_default().to_string_lossy();
            let what = format!("{} has not been run: {ledger} does not exist", self.place.named);
            return Err(Diagnostic::wrong_use(what, format!("agon run {}", self.place.named)));
        }
        Ok(SqliteLedger::open_to_read(&self.place.ledger).await?)
    }

    /// Secret seed of a new competition.
    fn secret_seed(&self) -> Result<SecretSeed, Diagnostic> {
        let empty = |what: String| Diagnostic::wrong_use(what, "use a long text that cannot be guessed");
        let given = match &self.competition.seed {
            SeedSource::Drawn => return Ok(agon_runner::seeds::generate_secret()?),
            SeedSource::Given(text) => return Ok(SecretSeed::new(text)),
            SeedSource::File(path) => {
                let path = self.place.folder.join(path);
                fs::read_to_string(&path).map_err(|e| {
                    Diagnostic::io(
                        "read",
                        &path,
                        &e,
                        "create the file with the secret seed, or correct the path",
                    )
                })?
            }
            SeedSource::Variable(name) => std::env::var(name)
                .map_err(|_| empty(format!("the environment variable {name} contains no secret seed")))?,
        };
        match given.trim() {
            "" => Err(empty("the secret seed is empty".to_owned())),
            seed => Ok(SecretSeed::new(seed)),
        }
    }

    /// Checks that the file still matches the ledger. A change that does not affect results is stored as a new version.
    pub(super) async fn check_unchanged(&self, ledger: &dyn Ledger) -> Result<(), Diagnostic> {
        let (kept, phases) = (ledger.competition().await?, ledger.phases().await?);
        let info = self.table.info();
        if kept.game == info.id && kept.rules != info.rules_version {
            let (found, known) = (kept.rules, info.rules_version);
            let what = format!(
                "{} was started with version {found} of the rules, but this is version {known}",
                self.place.named
            );
            return Err(Diagnostic::wrong_use(
                what,
                "resume with the Agon version that started it, or start over with --fresh",
            ));
        }
        let Some(last) = kept.config_versions.last() else { return Ok(()) };
        let new = self.config_version();
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
        let what = "changed since the competition was started; results would not be comparable";
        // A removed mode cannot be restored in the file.
        let hint = if refused.iter().any(|change| change.place == "stateless") {
            "this mode was removed: finish with the Agon version that started it, or start over with --fresh (the old ledger is kept)"
        } else {
            "undo the change, or start over with --fresh (the old ledger is kept)"
        };
        Err(Diagnostic::wrong_use(what, hint)
            .about(&self.place.named)
            .details(refused.iter().map(ToString::to_string)))
    }
}

/// Reads the files that settings name, and replaces the names by the content's hash.
fn read_assets(
    place: &CompetitionPaths,
    info: &'static GameInfo,
    settings: &mut Settings,
    assets: &mut Assets,
) -> Result<(), Diagnostic> {
    for spec in info.settings.iter().filter(|spec| spec.kind == SettingKind::Asset) {
        let Some(name) = settings.word(spec.name).filter(|name| *name != "built-in") else { continue };
        if assets.get(name).is_some() {
            continue;
        }
        let path = place.folder.join(name);
        let content = fs::read(&path).map_err(|e| {
            Diagnostic::named_path("read", &path, &e, &format!("check `{}` in {}", spec.name, place.named))
        })?;
        settings.set(spec.name, SettingValue::Word(assets.insert(content)));
    }
    Ok(())
}
