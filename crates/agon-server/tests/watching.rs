//! What authors are told about their bots while a competition is played.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use agon_server::notify::watch::CompetitionWatch;
use agon_site_db::{CompetitionState, Role};
use common::Site;
use common::competition::Once;
use serde_json::json;

/// Fails at its third move.
const TRIPS: &str = "class Trips:
    asked = 0

    def get_move(self, board, player, T, N):
        self.asked += 1
        if self.asked == 3:
            raise ValueError('three is too much')
        return [c for c in range(9) if not board[0][c]][0]
";

const COMPETITION: &str = r#"name = "Cup"
game = "connect-five"
seed = "a cup's seed"
sandbox = "off"

[[phase]]
name = "First"
format = "round-robin"
parts = [{ games = 2, seconds = 1 }]

[[entrant]]
name = "Trips"
bot = "Trips.py"

[[entrant]]
bot = "house:random"
"#;

static CUP_PLAYED: Once = Once::new();

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn author_is_told_once_that_a_phase_begins_and_that_the_bot_had_faults() {
    let site = Site::new().await;
    let ada = site.person("Ada", Role::Author).await;
    let bob = site.person("Bob", Role::Author).await;
    let mut watch = CompetitionWatch::default();
    // What happened before the first look is not news.
    watch.look(&site.app).await;
    CUP_PLAYED.write_to(site.competition_file("cup").parent().unwrap(), COMPETITION, &[("Trips.py", TRIPS)]);
    site.host("cup", CompetitionState::Running, &[("Trips", ada.id)]).await;
    for _ in 0..2 {
        watch.look(&site.app).await;
    }
    let told = ada.get("me/notifications").await.json;
    let items = told["items"].as_array().unwrap();
    let kinds: Vec<&str> = items.iter().map(|one| one["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["crashed", "phase_begins"], "newest first: {told}");
    assert_eq!(items[1]["text"], "Cup: First begins.");
    assert!(items[0]["text"].as_str().unwrap().contains("crash"), "{told}");
    assert_eq!(bob.get("me/notifications").await.json["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_from_before_the_start_of_the_server_are_not_told() {
    let site = Site::new().await;
    let ada = site.person("Ada", Role::Author).await;
    CUP_PLAYED.write_to(site.competition_file("cup").parent().unwrap(), COMPETITION, &[("Trips.py", TRIPS)]);
    site.host("cup", CompetitionState::Running, &[("Trips", ada.id)]).await;
    let mut watch = CompetitionWatch::default();
    for _ in 0..2 {
        watch.look(&site.app).await;
    }
    assert_eq!(ada.get("me/notifications").await.json["items"], json!([]));
}
