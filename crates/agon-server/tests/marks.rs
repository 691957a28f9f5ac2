//! Marks of bots on a server: `AI` and `exploit`, set by the author with an upload or by an organiser, and shown with the entrants.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use agon_site_db::Role;
use axum::body::Body;
use axum::http::header;
use common::{Answer, Client, Site};
use serde_json::{Value, json};

const BOUNDARY: &str = "a-boundary";
const BOT: &str = "class Seeker(Player):\n    def move(self):\n        pass\n";

/// Submits a bot with these further fields.
async fn submit(client: &Client, path: &str, fields: &[(&str, &str)]) -> Answer {
    let mut body = String::new();
    for (name, value) in fields {
        body +=
            &format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
    }
    let head = "Content-Disposition: form-data; name=\"file\"; filename=\"bot.py\"";
    body += &format!("--{BOUNDARY}\r\n{head}\r\n\r\n{BOT}\r\n--{BOUNDARY}--\r\n");
    let mut request = client.request("POST", path);
    let kind = format!("multipart/form-data; boundary={BOUNDARY}");
    request.headers_mut().insert(header::CONTENT_TYPE, kind.parse().unwrap());
    *request.body_mut() = Body::from(body);
    client.ask(request).await
}

struct OpenCup {
    _site: Site,
    author: Client,
    organiser: Client,
}

impl OpenCup {
    /// An open competition of Hide and Seek with two house bots, one of them marked in the file.
    async fn open() -> Self {
        let site = Site::new().await;
        let author = site.person("author", Role::Author).await;
        let organiser = site.person("organiser", Role::Organiser).await;
        let file = "game = \"hide-and-seek\"\n[[phase]]\nformat = \"cross\"\nboards = 1\n\
            [[entrant]]\nbot = \"house:roaming-seeker\"\nmarks = { exploit = \"reads the map\" }\n\
            [[entrant]]\nbot = \"house:still-hider\"\n";
        let made = json!({"game": "hide-and-seek", "name": "Cup", "id": "cup", "file": file});
        let made = organiser.post("competitions", made).await;
        assert_eq!(made.status, 201, "{}", made.json);
        organiser.post("competitions/cup/actions", json!({"action": "open"})).await;
        Self { _site: site, author, organiser }
    }

    async fn submit(&self, marks: &[&str]) -> Answer {
        let mut fields = vec![("name", "Prowler"), ("role", "seeker")];
        fields.extend(marks.iter().map(|mark| ("mark", *mark)));
        submit(&self.author, "competitions/cup/bots", &fields).await
    }

    /// The marks of a bot of the author, as its own list shows them.
    async fn own_marks(&self) -> Value {
        self.author.get("me/bots").await.json["items"][0]["marks"].clone()
    }
}

#[tokio::test]
async fn house_bot_with_marks_in_the_file_is_shown_with_them() {
    let cup = OpenCup::open().await;
    let shown = cup.organiser.get("competitions/cup").await.json;
    assert_eq!(
        shown["entrants"][0]["marks"],
        json!([{"mark": "exploit", "note": "reads the map"}]),
        "{shown}"
    );
    assert_eq!(shown["entrants"][1]["marks"], json!([]));
}

#[tokio::test]
async fn author_marks_a_bot_with_the_upload_and_a_new_version_keeps_the_marks() {
    let cup = OpenCup::open().await;
    let made = cup.submit(&["ai=wrote the path search", "exploit"]).await;
    assert_eq!(made.status, 201, "{}", made.json);
    let both = json!([{"mark": "AI", "note": "wrote the path search"}, {"mark": "exploit", "note": null}]);
    assert_eq!(cup.own_marks().await, both);
    let versions = format!("competitions/cup/bots/{}/versions", made.json["bot"]);
    assert_eq!(submit(&cup.author, &versions, &[("mark", "AI=wrote all of it")]).await.status, 201);
    let both = json!([{"mark": "AI", "note": "wrote all of it"}, {"mark": "exploit", "note": null}]);
    assert_eq!(cup.own_marks().await, both);
}

#[tokio::test]
async fn unknown_mark_of_an_author_is_refused_and_adds_no_bot() {
    let cup = OpenCup::open().await;
    let refused = cup.submit(&["winner"]).await;
    assert_eq!((refused.status.as_u16(), refused.json["error"]["field"].as_str()), (422, Some("mark")));
    assert!(
        refused.json["error"]["message"].as_str().unwrap().contains("AI and exploit"),
        "{}",
        refused.json
    );
    assert_eq!(cup.author.get("me/bots").await.json["items"], json!([]));
}

#[tokio::test]
async fn mark_of_an_organiser_cannot_be_removed_by_the_author() {
    let cup = OpenCup::open().await;
    let bot = cup.submit(&["AI"]).await.json["bot"].clone();
    let path = format!("competitions/cup/bots/{bot}/marks");
    let exploit = json!({"mark": "exploit", "note": "plays with the clock"});
    let set = cup.organiser.put(&path, json!({"marks": [{"mark": "AI"}, exploit, {"mark": "late"}]})).await;
    assert_eq!(set.status, 200, "{}", set.json);
    let set = cup.author.put(&path, json!({"marks": []})).await.json;
    assert_eq!(set["marks"].as_array().unwrap().len(), 3, "all were set by the organiser: {set}");
    let refused = cup.author.put(&path, json!({"marks": [{"mark": "best"}]})).await;
    assert_eq!(refused.status, 422);
    let set = cup.organiser.put(&path, json!({"marks": [{"mark": "AI"}]})).await.json;
    assert_eq!(set["marks"], json!([{"mark": "AI", "note": null}]));
    for wrong in [json!([{"mark": ""}]), json!([{"mark": "a(b"}]), json!([{"mark": "x"}, {"mark": "X"}])] {
        assert_eq!(cup.organiser.put(&path, json!({"marks": wrong})).await.status, 422, "{wrong}");
    }
    let log = cup.organiser.get("audit").await.json;
    assert!(log["items"].as_array().unwrap().iter().any(|one| one["action"] == "bot.marks"), "{log}");
}
