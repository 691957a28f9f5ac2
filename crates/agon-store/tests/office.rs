//! The office: who may come in, what they hand in, and what is left of it whoever is quicker.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr, clippy::too_many_lines, reason = "tests")]

#[path = "office/file.rs"]
mod file;
#[path = "office/hosted.rs"]
mod hosted;
#[path = "office/people.rs"]
mod people;
#[path = "office/races.rs"]
mod races;

use std::future::Future;
use std::ops::Deref;

use agon_core::record::Digest;
use agon_store::Timestamp;
use agon_store::site_db::{
    Account, AccountId, SignUpGrant, HostedCompetition, Entrant, EntrantId, SecretString, UploadLimits, NewAccount,
    NewCompetition, NewEntrant, NewSubmission, SiteDb, Origin, Role, CompetitionState, SubmissionId, token_hash,
};
use tempfile::TempDir;

/// Runs it to its end, on some threads.
fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_time()
        .build()
        .unwrap()
        .block_on(work)
}

/// An office in a folder of its own, which goes with it.
struct Own {
    office: SiteDb,
    _folder: TempDir,
}

impl Deref for Own {
    type Target = SiteDb;

    fn deref(&self) -> &SiteDb {
        &self.office
    }
}

async fn office() -> Own {
    let folder = TempDir::new().unwrap();
    let office = SiteDb::open(folder.path().join("office.db")).await.unwrap();
    Own { office, _folder: folder }
}

fn hash(text: &str) -> Digest {
    token_hash(text)
}

fn newcomer(name: &str, by: SignUpGrant) -> NewAccount {
    NewAccount {
        name: name.to_owned(),
        password_hash: SecretString::new(format!("argon:{name}")),
        by,
        at: Timestamp(1_000),
    }
}

async fn account(office: &SiteDb, name: &str, role: Role) -> Account {
    office.create_account(&newcomer(name, SignUpGrant::Open(role))).await.unwrap()
}

async fn competition(office: &SiteDb, id: &str, per_contributor: Option<u32>) -> HostedCompetition {
    office
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

fn entering(competition: &str, account: AccountId, name: &str) -> NewEntrant {
    NewEntrant {
        competition: competition.to_owned(),
        account: Some(account),
        name: name.to_owned(),
        role: None,
        bot: None,
        at: Timestamp(3_000),
    }
}

async fn enter(office: &SiteDb, competition: &str, account: AccountId, name: &str) -> Entrant {
    office.add_entrant(&entering(competition, account, name), &[CompetitionState::Open]).await.unwrap()
}

fn handing_in(entrant: EntrantId, account: AccountId) -> NewSubmission {
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
