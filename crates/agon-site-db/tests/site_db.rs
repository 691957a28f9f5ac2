//! The site database: accounts, competitions, submissions, and concurrent changes.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr, clippy::too_many_lines, reason = "tests")]

#[path = "site_db/budgets.rs"]
mod budgets;
#[path = "site_db/community.rs"]
mod community;
#[path = "site_db/file.rs"]
mod file;
#[path = "site_db/hosted.rs"]
mod hosted;
#[path = "site_db/inbox.rs"]
mod inbox;
#[path = "site_db/marks.rs"]
mod marks;
#[path = "site_db/organiser.rs"]
mod organiser;
#[path = "site_db/people.rs"]
mod people;
#[path = "site_db/practice.rs"]
mod practice;
#[path = "site_db/races.rs"]
mod races;

use std::future::Future;
use std::ops::Deref;

use agon_core::record::Digest;
use agon_site_db::{
    Account, AccountId, CompetitionState, Entrant, EntrantId, HostedCompetition, NewAccount, NewCompetition,
    NewEntrant, NewSubmission, Origin, Role, SecretString, SignUpGrant, SiteDb, SubmissionId, UploadLimits,
    token_hash,
};
use agon_store::Timestamp;
use tempfile::TempDir;

/// Runs a future to completion on some threads.
fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_time()
        .build()
        .unwrap()
        .block_on(work)
}

/// A site database in a temporary folder.
struct TempSiteDb {
    site_db: SiteDb,
    _folder: TempDir,
}

impl Deref for TempSiteDb {
    type Target = SiteDb;

    fn deref(&self) -> &SiteDb {
        &self.site_db
    }
}

async fn open_site_db() -> TempSiteDb {
    let folder = TempDir::new().unwrap();
    let site_db = SiteDb::open(folder.path().join("office.db")).await.unwrap();
    TempSiteDb { site_db, _folder: folder }
}

fn hash(text: &str) -> Digest {
    token_hash(text)
}

fn new_account(name: &str, by: SignUpGrant) -> NewAccount {
    NewAccount {
        name: name.to_owned(),
        password_hash: SecretString::new(format!("argon:{name}")),
        grant: by,
        at: Timestamp(1_000),
    }
}

async fn account(site_db: &SiteDb, name: &str, role: Role) -> Account {
    site_db.create_account(&new_account(name, SignUpGrant::Open(role))).await.unwrap()
}

async fn competition(site_db: &SiteDb, id: &str, per_contributor: Option<u32>) -> HostedCompetition {
    site_db
        .create_competition(&NewCompetition {
            id: id.to_owned(),
            name: format!("The {id}"),
            game: "colour-battle".to_owned(),
            file: format!("competitions/{id}/{id}.toml"),
            origin: Origin::Hosted,
            state: CompetitionState::Open,
            public: true,
            limits: UploadLimits { per_contributor, max_bytes: Some(1 << 20) },
            preset: "rounds = 3\n".to_owned(),
            by: None,
            at: Timestamp(2_000),
        })
        .await
        .unwrap()
}

fn new_entrant(competition: &str, account: AccountId, name: &str) -> NewEntrant {
    NewEntrant {
        competition: competition.to_owned(),
        account: Some(account),
        name: name.to_owned(),
        role: None,
        bot: None,
        at: Timestamp(3_000),
    }
}

async fn enter(site_db: &SiteDb, competition: &str, account: AccountId, name: &str) -> Entrant {
    site_db.add_entrant(&new_entrant(competition, account, name), &[CompetitionState::Open]).await.unwrap()
}

fn new_submission(entrant: EntrantId, account: AccountId) -> NewSubmission {
    NewSubmission {
        id: SubmissionId::random().unwrap(),
        entrant,
        account,
        file: "bot.zip".to_owned(),
        bytes: 4_000,
        hash: hash("upload"),
        from_phase: 0,
        at: Timestamp(4_000),
    }
}
