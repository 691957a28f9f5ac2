//! The list of an author's own bots, and the hash of their versions.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use agon_site_db::{
    AccountId, CompetitionState, EntrantId, NewEntrant, NewSubmission, Role, SubmissionId, SubmissionState,
    SubmissionVerdict, token_hash,
};
use agon_store::Timestamp;
use common::Site;
use serde_json::{Value, json};

struct OpenCompetition {
    site: Site,
}

impl OpenCompetition {
    async fn open() -> Self {
        let site = Site::new().await;
        let organiser = site.person("organiser", Role::Organiser).await;
        let made = json!({"game": "connect-five", "name": "OpenCompetition", "id": "cup", "house": ["random", "tactician"]});
        assert_eq!(organiser.post("competitions", made).await.status, 201);
        assert_eq!(organiser.post("competitions/cup/actions", json!({"action": "open"})).await.status, 200);
        Self { site }
    }

    /// Adds an entrant of this account.
    async fn entrant(&self, account: AccountId, name: &str) -> EntrantId {
        let new = NewEntrant {
            competition: "cup".to_owned(),
            account: Some(account),
            name: name.to_owned(),
            role: None,
            bot: None,
            at: Timestamp::now(),
        };
        self.site.app.site_db.add_entrant(&new, CompetitionState::ALL).await.unwrap().id
    }

    /// Stores a submission with its verdict, as the check threads do.
    async fn submission(
        &self,
        account: AccountId,
        entrant: EntrantId,
        state: SubmissionState,
        report: Option<&Value>,
    ) {
        let db = &self.site.app.site_db;
        let new = NewSubmission {
            id: SubmissionId::random().unwrap(),
            entrant,
            account,
            file: "bot.zip".to_owned(),
            bytes: 100,
            hash: token_hash("the uploaded archive"),
            from_phase: 0,
            at: Timestamp::now(),
        };
        let queued = db.enqueue(&new, CompetitionState::ALL).await.unwrap();
        db.claim_next(Timestamp::now()).await.unwrap().unwrap();
        let verdict = SubmissionVerdict {
            state,
            report: report.map(ToString::to_string),
            folder: (state == SubmissionState::Accepted).then(|| "nowhere".to_owned()),
            trials: Vec::new(),
            at: Timestamp::now(),
        };
        db.finish(&queued.id, &verdict).await.unwrap();
    }
}

#[tokio::test]
async fn refused_first_upload_is_rejected_and_a_bot_of_which_a_version_was_accepted_is_not() {
    let cup = OpenCompetition::open().await;
    let author = cup.site.person("ada", Role::Author).await;
    let account = AccountId(author.id);
    let refused = cup.entrant(account, "Refused").await;
    cup.submission(account, refused, SubmissionState::Refused, None).await;
    cup.site.app.site_db.withdraw(refused, Timestamp::now()).await.unwrap();
    let failed = cup.entrant(account, "Failed").await;
    cup.submission(account, failed, SubmissionState::CheckFailed, None).await;
    let later = cup.entrant(account, "Later").await;
    cup.submission(account, later, SubmissionState::Accepted, None).await;
    cup.submission(account, later, SubmissionState::Refused, None).await;
    let left = cup.entrant(account, "Left").await;
    cup.submission(account, left, SubmissionState::Accepted, None).await;
    cup.site.app.site_db.withdraw(left, Timestamp::now()).await.unwrap();
    let mine = author.get("me/bots").await.json;
    let state = |name: &str| {
        let bot = mine["items"].as_array().unwrap().iter().find(|one| one["name"] == name).unwrap().clone();
        (bot["rejected"].as_bool().unwrap(), bot["withdrawn"].as_bool().unwrap())
    };
    assert_eq!(state("Refused"), (true, true));
    assert_eq!(state("Failed"), (true, false));
    assert_eq!(state("Later"), (false, false));
    assert_eq!(state("Left"), (false, true));
}

#[tokio::test]
async fn version_has_the_hash_of_its_check_and_not_that_of_the_upload() {
    let cup = OpenCompetition::open().await;
    let author = cup.site.person("ada", Role::Author).await;
    let account = AccountId(author.id);
    let bot = cup.entrant(account, "Hashed").await;
    let report = json!({"accepted": true, "name": "Hashed", "hash": "sha256:0a1b2c", "steps": []});
    cup.submission(account, bot, SubmissionState::Accepted, Some(&report)).await;
    cup.submission(account, bot, SubmissionState::Accepted, None).await;
    let page = author.get(&format!("competitions/cup/bots/{}", bot.0)).await.json;
    let hashes: Vec<&Value> = page["versions"].as_array().unwrap().iter().map(|one| &one["hash"]).collect();
    assert_eq!(hashes, [&json!("0a1b2c"), &Value::Null], "{page}");
}
