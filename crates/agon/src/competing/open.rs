//! From the name of a file to a competition and its ledger.

use std::fs;
use std::path::{Path, PathBuf};

use agon_core::settings::{Kind, Value};
use agon_core::{Assets, GameInfo, Settings};
use agon_engine::Table;
use agon_league::competition::{Change, Competition, Progress, SecretSeed, compare};
use agon_store::{Edition, Founding, Ledger as _, PhaseState, Secret, SqliteLedger, Time};
use serde_json::Value as Json;
use tokio::runtime::{Builder, Runtime};

use crate::failure::{BROKE, Failure, WRONG_USE};

/// A file larger than this was not written by hand.
const MOST_BYTES: u64 = 4 << 20;

/// Where a competition is.
#[derive(Clone, Debug)]
pub struct Place {
    /// The file, from the root.
    pub file: PathBuf,
    /// As it was named.
    pub named: String,
    /// The folder its paths are read from.
    pub folder: PathBuf,
    /// The ledger: beside the file, with its name.
    pub ledger: PathBuf,
}

impl Place {
    /// Of a file that is there.
    pub fn of(file: &Path) -> Result<Self, Failure> {
        let named = file.display().to_string();
        let whole = file.canonicalize().map_err(|e| {
            Failure::io("read", file, &e, "`agon init GAME FILE` writes a competition to start from")
        })?;
        let folder = whole.parent().unwrap_or(Path::new("/")).to_owned();
        if whole.extension().is_some_and(|ending| ending == "ledger") {
            let hint = "name the competition's file; its ledger is found beside it";
            return Err(Failure::wrong_use(format!("{named} is a ledger"), hint));
        }
        Ok(Self { ledger: whole.with_extension("ledger"), file: whole, named, folder })
    }
}

/// A competition, read and checked.
pub struct Sitting {
    /// Where it is.
    pub place: Place,
    /// The file's text.
    pub text: String,
    /// What it says.
    pub competition: Competition,
    /// Its game.
    pub table: Box<dyn Table>,
    /// The files its settings name.
    pub assets: Assets,
    /// For the ledger.
    pub runtime: Runtime,
}

impl Sitting {
    /// Reads a file. Every mistake in it is told at once.
    pub fn read(file: &Path) -> Result<Self, Failure> {
        let place = Place::of(file)?;
        let unreadable = |e| Failure::io("read", file, &e, "may you read it?");
        if fs::metadata(&place.file).map_err(unreadable)?.len() > MOST_BYTES {
            let what = format!("{}: larger than {} MiB", place.named, MOST_BYTES >> 20);
            return Err(Failure::wrong_use(what, "is this a competition's file?"));
        }
        let bytes = fs::read(&place.file).map_err(unreadable)?;
        let text = String::from_utf8(bytes).map_err(|_| {
            Failure::wrong_use(format!("{}: not UTF-8 text", place.named), "save it as UTF-8")
        })?;
        let competition = Competition::read(&text).map_err(|mistakes| {
            let all: Vec<String> = mistakes.iter().map(|one| one.in_file(&place.named)).collect();
            Failure { code: WRONG_USE, message: all.join("\n") }
        })?;
        Self::with(place, text, competition)
    }

    /// Of a competition that was read from something else.
    pub fn with(place: Place, text: String, mut competition: Competition) -> Result<Self, Failure> {
        let table = agon_engine::table(competition.game)?;
        let mut assets = Assets::none();
        fetch(&place, table.info(), &mut competition.settings, &mut assets)?;
        for phase in &mut competition.phases {
            fetch(&place, table.info(), &mut phase.settings, &mut assets)?;
        }
        let runtime = Builder::new_current_thread().enable_time().build()?;
        Ok(Self { place, text, competition, table, assets, runtime })
    }

    /// What is kept of the file.
    fn edition(&self) -> Edition {
        let normal = self.competition.normalised().to_string();
        Edition { file: self.text.clone(), normal, at: Time::now() }
    }

    /// The ledger, made if it is not there. A file that changed in a way that matters is refused.
    pub fn ledger(&self) -> Result<SqliteLedger, Failure> {
        if self.place.ledger.exists() {
            let ledger = self.runtime.block_on(SqliteLedger::open(&self.place.ledger))?;
            self.runtime.block_on(self.agree(&ledger))?;
            return Ok(ledger);
        }
        let info = self.table.info();
        let founding = Founding {
            name: self.competition.name.clone(),
            game: info.id.to_owned(),
            rules: info.rules_version,
            engine: env!("CARGO_PKG_VERSION").to_owned(),
            edition: self.edition(),
            phases: self.competition.phases.len() as u32,
            secret: self.secret()?,
        };
        Ok(self.runtime.block_on(SqliteLedger::create(&self.place.ledger, &founding))?)
    }

    /// The ledger, for looking at it.
    pub fn ledger_to_read(&self) -> Result<SqliteLedger, Failure> {
        if !self.place.ledger.exists() {
            let what = format!("{} was not run yet: there is no {}", self.place.named, self.place.ledger.display());
            return Err(Failure::wrong_use(what, format!("agon run {}", self.place.named)));
        }
        Ok(self.runtime.block_on(SqliteLedger::open_to_read(&self.place.ledger))?)
    }

    /// The secret seed a new competition starts with.
    fn secret(&self) -> Result<Secret, Failure> {
        let empty = |what: String| Failure::wrong_use(what, "put a long text there that nobody can guess");
        let given = match &self.competition.seed {
            SecretSeed::Drawn => return Ok(agon_runner::secret::draw()?),
            SecretSeed::Given(text) => return Ok(Secret::new(text)),
            SecretSeed::File(path) => {
                let path = self.place.folder.join(path);
                fs::read_to_string(&path).map_err(|e| Failure::io("read", &path, &e, "it holds the secret seed"))?
            }
            SecretSeed::Variable(name) => std::env::var(name)
                .map_err(|_| empty(format!("the environment variable {name} holds no secret seed")))?,
        };
        match given.trim() {
            "" => Err(empty("the secret seed is empty".to_owned())),
            seed => Ok(Secret::new(seed)),
        }
    }

    /// Whether the file still says what was begun. A harmless change is kept as a new edition.
    async fn agree(&self, ledger: &SqliteLedger) -> Result<(), Failure> {
        let (kept, phases) = (ledger.competition().await?, ledger.phases().await?);
        let info = self.table.info();
        if kept.game == info.id && kept.rules != info.rules_version {
            let (found, known) = (kept.rules, info.rules_version);
            let what = format!("{} was begun under version {found} of the rules, this is {known}", self.place.named);
            return Err(Failure::wrong_use(what, "go on with the Agon it was begun with, or anew with --fresh"));
        }
        let Some(last) = kept.editions.last() else { return Ok(()) };
        let new = self.edition();
        if last.normal == new.normal {
            return Ok(());
        }
        let old: Json = serde_json::from_str(&last.normal).unwrap_or_default();
        let changes = compare(&old, &self.competition.normalised());
        let begun = phases.iter().filter(|phase| phase.state > PhaseState::Waiting).count() as u32;
        let all_over = phases.iter().take(begun as usize).all(|phase| phase.state >= PhaseState::Published);
        let next = self.competition.phases.get(begun as usize);
        let progress = Progress { begun, waiting: all_over && next.is_some_and(|next| next.resubmit) };
        let refused: Vec<&Change> = changes.iter().filter(|change| change.is_refused(progress)).collect();
        if refused.is_empty() {
            return Ok(ledger.amend(&new).await?);
        }
        let mut message =
            format!("{}: changed since the competition was begun; results could not be compared", self.place.named);
        for change in refused {
            message += &format!("\n  {change}");
        }
        let hint = "change it back, or begin anew with --fresh (the old ledger is kept)";
        Err(Failure { code: WRONG_USE, message: format!("{message}\nhint: {hint}") })
    }
}

/// Reads the files that settings name, and lets the settings name their content.
fn fetch(
    place: &Place,
    info: &'static GameInfo,
    settings: &mut Settings,
    assets: &mut Assets,
) -> Result<(), Failure> {
    for spec in info.settings.iter().filter(|spec| spec.kind == Kind::Asset) {
        let Some(name) = settings.word(spec.name).filter(|name| *name != "built-in") else { continue };
        if assets.get(name).is_some() {
            continue;
        }
        let path = place.folder.join(name);
        let content = fs::read(&path).map_err(|e| {
            Failure::io("read", &path, &e, &format!("`{}` of {} names it", spec.name, place.named))
        })?;
        settings.set(spec.name, Value::Word(assets.insert(content)));
    }
    Ok(())
}

impl From<agon_store::StoreError> for Failure {
    fn from(error: agon_store::StoreError) -> Self {
        use agon_store::StoreError as E;
        let code = match error {
            E::Missing { .. } | E::Exists { .. } | E::NotALedger { .. } | E::Running { .. } => WRONG_USE,
            _ => BROKE,
        };
        Self { code, message: error.to_string() }
    }
}

impl From<agon_runner::RunError> for Failure {
    fn from(error: agon_runner::RunError) -> Self {
        use agon_runner::RunError as E;
        match error {
            E::Store(error) => error.into(),
            E::Play(error) => error.into(),
            E::Settings(error) => error.into(),
            E::Format { .. } | E::Changed { .. } => Self { code: WRONG_USE, message: error.to_string() },
            other => Self { code: BROKE, message: other.to_string() },
        }
    }
}
