//! Competitions that were really played, for a test site.
#![allow(clippy::unwrap_used, reason = "a benchmark uses it too")]

use std::fs;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::thread;

use agon_competition::LoadedCompetition;
use agon_competition::run::{RunContext, run_competition};
use agon_runner::{ActiveMatches, LiveGames, LocalExecutor, RunListener, RunOutcome, StopFlag};
use agon_server::read_model::{CompetitionHandle, load};
use agon_site_db::{
    CompetitionState, NewCompetition, NewEntrant, NewSubmission, Origin, SubmissionId, SubmissionState,
    SubmissionVerdict, UploadLimits, token_hash,
};
use agon_store::{SqliteLedger, Timestamp};
use tokio::runtime::Builder;

use super::Site;

/// Plays from the ledger until the competition is finished or waits.
pub fn play(
    file: &Path,
    listener: &mut dyn RunListener,
    gallery: Option<Arc<LiveGames>>,
    stop: &StopFlag,
) -> RunOutcome {
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    let sitting = LoadedCompetition::read(file).map_err(|failure| failure.to_string()).unwrap();
    let ledger: SqliteLedger =
        runtime.block_on(sitting.ledger()).map_err(|failure| failure.to_string()).unwrap();
    // One live slot, so that a viewer misses nothing.
    let jobs = if gallery.is_some() { 1 } else { 2 };
    let boards = gallery.map_or_else(ActiveMatches::default, ActiveMatches::with_live_games);
    let means = RunContext {
        runtime: &runtime,
        executor: &LocalExecutor { jobs, pin: false },
        stop,
        boards,
        run_through: false,
    };
    let ended = run_competition(&sitting, &ledger, means, listener, &mut |note| panic!("{note}"));
    runtime.block_on(ledger.disconnect()).unwrap();
    ended.map_err(|failure| failure.to_string()).unwrap()
}

/// The same in a thread, because the runner has its own runtime.
pub fn played(file: &Path) -> RunOutcome {
    thread::scope(|scope| scope.spawn(|| play(file, &mut (), None, &StopFlag::default())).join().unwrap())
}

/// A file with its ledger, played once for all tests of a program.
pub struct Once(OnceLock<(Files, tempfile::TempDir)>);

/// Names and contents.
type Files = Vec<(String, Vec<u8>)>;

impl Once {
    pub const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// Writes the played competition to a folder.
    pub fn write_to(&self, folder: &Path, text: &str, bots: &[(&str, &str)]) {
        let (files, _) = self.0.get_or_init(|| {
            let home = tempfile::tempdir().unwrap();
            for (name, content) in bots {
                fs::write(home.path().join(name), content).unwrap();
            }
            fs::write(home.path().join("cup.toml"), text).unwrap();
            played(&home.path().join("cup.toml"));
            let files = ["cup.toml", "cup.ledger"]
                .map(|name| (name.to_owned(), fs::read(home.path().join(name)).unwrap()));
            (files.to_vec(), home)
        });
        fs::create_dir_all(folder).unwrap();
        for (name, bytes) in files {
            fs::write(folder.join(name), bytes).unwrap();
        }
    }
}

/// Shows the competition of a file, and its ledger.
pub async fn show_file(competition_handle: &CompetitionHandle, file: &Path) {
    let loaded = LoadedCompetition::read(file).map_err(|failure| failure.to_string()).unwrap();
    load(competition_handle, Arc::new(loaded)).await.unwrap();
}

impl Site {
    /// Path of a competition's file.
    pub fn competition_file(&self, id: &str) -> std::path::PathBuf {
        self.app.config.data.join("competitions").join(id).join("cup.toml")
    }

    /// Adds the competition in the folder to the site database, as the organiser API does. `owners` are the accounts of some of its bots,
    /// by name.
    pub async fn host(&self, id: &str, state: CompetitionState, owners: &[(&str, i64)]) {
        let file = self.competition_file(id);
        let sitting = LoadedCompetition::read(&file).map_err(|failure| failure.to_string()).unwrap();
        let site_db = &self.app.site_db;
        let new = NewCompetition {
            id: id.to_owned(),
            name: sitting.competition.name.clone(),
            game: sitting.competition.game.to_owned(),
            file: file.display().to_string(),
            origin: Origin::Hosted,
            state: CompetitionState::Open,
            public: true,
            limits: UploadLimits { per_contributor: Some(2), max_bytes: Some(100_000) },
            preset: agon_league::config::edit::split_entrants(&sitting.text).unwrap().0,
            by: None,
            at: Timestamp::now(),
        };
        site_db.create_competition(&new).await.unwrap();
        for entrant in &sitting.competition.entrants {
            let owner = owners.iter().find(|(name, _)| *name == entrant.name);
            let account = owner.map(|(_, id)| agon_site_db::AccountId(*id));
            let new = NewEntrant {
                competition: id.to_owned(),
                account,
                name: entrant.name.clone(),
                role: entrant.role.map(str::to_owned),
                bot: account.is_none().then(|| match &entrant.bot {
                    agon_league::config::EntrantBot::Spec(bot) => bot.clone(),
                    agon_league::config::EntrantBot::Git { repository, .. } => repository.clone(),
                }),
                at: Timestamp::now(),
            };
            let made = site_db.add_entrant(&new, CompetitionState::ALL).await.unwrap();
            let Some(account) = account else { continue };
            let submission = NewSubmission {
                id: SubmissionId::random().unwrap(),
                entrant: made.id,
                account,
                file: "bot.zip".to_owned(),
                bytes: 100,
                hash: token_hash(&entrant.name),
                from_phase: 0,
                at: Timestamp::now(),
            };
            let queued = site_db.enqueue(&submission, CompetitionState::ALL).await.unwrap();
            site_db.claim_next(Timestamp::now()).await.unwrap().unwrap();
            let checked = SubmissionVerdict {
                state: SubmissionState::Accepted,
                report: None,
                folder: Some("nowhere".to_owned()),
                trials: Vec::new(),
                at: Timestamp::now(),
            };
            site_db.finish(&queued.id, &checked).await.unwrap();
        }
        if !matches!(state, CompetitionState::Open | CompetitionState::Draft) {
            site_db.assign_numbers(id, Timestamp::now()).await.unwrap();
        }
        site_db.set_state(id, &[CompetitionState::Open], state, None).await.unwrap();
        let game = agon_engine::any_game(&new.game).unwrap().info().id;
        let competition_handle = self.app.competitions.add(id, game);
        show_file(&competition_handle, &file).await;
    }
}
