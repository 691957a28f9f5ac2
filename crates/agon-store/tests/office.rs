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
use agon_store::Time;
use agon_store::office::{
    Account, AccountId, Admission, Competition, Entrant, EntrantId, Hidden, Limits, NewAccount,
    NewCompetition, NewEntrant, NewSubmission, Office, Origin, Role, State, SubmissionId, token_hash,
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
    office: Office,
    _folder: TempDir,
}

impl Deref for Own {
    type Target = Office;

    fn deref(&self) -> &Office {
        &self.office
    }
}

async fn office() -> Own {
    let folder = TempDir::new().unwrap();
    let office = Office::open(folder.path().join("office.db")).await.unwrap();
    Own { office, _folder: folder }
}

fn hash(text: &str) -> Digest {
    token_hash(text)
}

fn newcomer(name: &str, by: Admission) -> NewAccount {
    NewAccount {
        name: name.to_owned(),
        password_hash: Hidden::new(format!("argon:{name}")),
        by,
        at: Time(1_000),
    }
}

async fn account(office: &Office, name: &str, role: Role) -> Account {
    office.create_account(&newcomer(name, Admission::Open(role))).await.unwrap()
}

async fn competition(office: &Office, id: &str, per_contributor: Option<u32>) -> Competition {
    office
        .create_competition(&NewCompetition {
            id: id.to_owned(),
            name: format!("The {id}"),
            game: "colour-battle".to_owned(),
            file: format!("competitions/{id}/{id}.toml"),
            origin: Origin::Hosted,
            state: State::Open,
            public: true,
            limits: Limits { per_contributor, max_bytes: Some(1 << 20) },
            preset: "rounds = 3\n".to_owned(),
            by: None,
            at: Time(2_000),
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
        at: Time(3_000),
    }
}

async fn enter(office: &Office, competition: &str, account: AccountId, name: &str) -> Entrant {
    office.add_entrant(&entering(competition, account, name), &[State::Open]).await.unwrap()
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
        at: Time(4_000),
    }
}
