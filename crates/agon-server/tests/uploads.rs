//! Uploads: rejections and their messages, and no loss of submissions. No bot is run here: problems with files are reported at once.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::io::{Cursor, Write as _};
use std::path::Path;

use agon_site_db::{CompetitionState, HostedCompetition, Role};
use axum::body::Body;
use axum::http::header;
use common::{Answer, Client, Site};
use serde_json::json;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const BOUNDARY: &str = "a-boundary";

/// A part of a form: name, file name, content.
type Part<'p> = (&'p str, Option<&'p str>, &'p [u8]);

fn form(parts: &[Part<'_>]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, file, content) in parts {
        let file = file.map_or_else(String::new, |file| format!("; filename=\"{file}\""));
        let head = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
    body
}

async fn send(client: &Client, path: &str, body: Vec<u8>) -> Answer {
    let mut request = client.request("POST", path);
    let kind = format!("multipart/form-data; boundary={BOUNDARY}");
    request.headers_mut().insert(header::CONTENT_TYPE, kind.parse().unwrap());
    *request.body_mut() = Body::from(body);
    client.ask(request).await
}

fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// An archive with a name that no writer would create: a name of the same length is replaced in its bytes.
fn renamed(files: &[(&str, &[u8])], from: &str, to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = zipped(files);
    let places: Vec<usize> =
        (0..bytes.len() - from.len()).filter(|&at| &bytes[at..at + from.len()] == from.as_bytes()).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + to.len()].copy_from_slice(to);
    }
    bytes
}

fn link() -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.add_symlink("bot.py", "/etc/passwd", SimpleFileOptions::default()).unwrap();
    writer.finish().unwrap().into_inner()
}

/// An archive that declares a wrong file size.
fn liar() -> Vec<u8> {
    let mut bytes = zipped(&[("bot.py", &vec![b'x'; 50_000])]);
    let declared = 50_000u32.to_le_bytes();
    let at: Vec<usize> = (0..bytes.len() - 4).filter(|&at| bytes[at..at + 4] == declared).collect();
    for at in at {
        bytes[at..at + 4].copy_from_slice(&10u32.to_le_bytes());
    }
    bytes
}

async fn open_competition(site: &Site, game: &str, more: &serde_json::Value) -> Client {
    let organiser = site.person("organiser", Role::Organiser).await;
    let mut body = json!({"game": game, "name": "The cup", "id": "cup"});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let made = organiser.post("competitions", body).await;
    assert_eq!(made.status, 201, "{}", made.json);
    let opened = organiser.post("competitions/cup/actions", json!({"action": "open"})).await;
    assert_eq!((opened.status.as_u16(), opened.json["accepts"] == true), (200, true), "{}", opened.json);
    organiser
}

const GOOD: &[u8] = b"class Bot:\n    pass\n";

/// Thirty hostile uploads: description, body, status and a part of the message.
#[allow(clippy::too_many_lines, reason = "a table")]
fn hostile() -> Vec<(&'static str, Vec<u8>, u16, &'static str)> {
    let one = |file: &str, content: &[u8]| form(&[("name", None, b"Bot"), ("file", Some(file), content)]);
    let zip = |content: Vec<u8>| one("bot.zip", &content);
    let two = |first: &str, second: &str| {
        form(&[("name", None, b"Bot"), ("file", Some(first), GOOD), ("file", Some(second), GOOD)])
    };
    let deep = format!("{}x.py", "d/".repeat(20));
    let long = format!("{}.py", "n".repeat(250));
    let many: Vec<(String, &[u8])> = (0..1001).map(|n| (format!("f{n}.py"), GOOD)).collect();
    let many: Vec<(&str, &[u8])> = many.iter().map(|(name, content)| (name.as_str(), *content)).collect();
    let many_parts: Vec<Part<'_>> =
        many.iter().map(|(name, content)| ("file", Some(*name), *content)).collect();
    vec![
        ("a path that leaves the archive", zip(zipped(&[("../evil.py", GOOD)])), 422, "leaves the archive"),
        ("the same in a subfolder", zip(zipped(&[("a/../../evil.py", GOOD)])), 422, "leaves the archive"),
        (
            "an absolute path",
            zip(renamed(&[("xetc/evil.py", GOOD)], "xetc/", b"/etc/")),
            422,
            "absolute path",
        ),
        ("a drive's path", zip(renamed(&[("C-evil.py", GOOD)], "C-evil", b"C:evil")), 422, "absolute path"),
        ("backslashes", zip(renamed(&[("a-b.py", GOOD)], "a-b.py", b"a\\b.py")), 422, "backslash"),
        (
            "a NUL in a name",
            zip(renamed(&[("a-b.py", GOOD)], "a-b.py", b"a\0b.py")),
            422,
            "control character",
        ),
        (
            "a line break in a name",
            zip(renamed(&[("a-b.py", GOOD)], "a-b.py", b"a\nb.py")),
            422,
            "control character",
        ),
        ("a symbolic link", zip(link()), 422, "is a link"),
        ("a bomb", zip(zipped(&[("bot.py", &vec![0; 260 << 20])])), 422, "unpacks to more than 256 MiB"),
        ("a file that is longer than declared", zip(liar()), 422, "is damaged"),
        (
            "names that differ by case",
            zip(zipped(&[("Bot.py", GOOD), ("bot.py", GOOD)])),
            422,
            "same name as",
        ),
        (
            "names that differ only in Unicode normalization",
            zip(zipped(&[("caf\u{e9}.py", GOOD), ("cafe\u{301}.py", GOOD)])),
            422,
            "same name as",
        ),
        (
            "a file that is a folder too",
            zip(zipped(&[("x", GOOD), ("x/y.py", GOOD)])),
            422,
            "both a file and a folder",
        ),
        (
            "one file twice",
            zip(renamed(&[("a.py", GOOD), ("b.py", GOOD)], "b.py", b"a.py")),
            422,
            "is listed twice",
        ),
        ("a device's name", zip(zipped(&[("NUL.py", GOOD)])), 422, "some systems reserve"),
        ("too many files", zip(zipped(&many)), 422, "more than 1000 entries"),
        ("too deep", zip(zipped(&[(&deep, GOOD)])), 422, "folders deep"),
        ("a name that is too long", zip(zipped(&[(&long, GOOD)])), 422, "200 bytes"),
        ("an empty archive", zip(zipped(&[])), 422, "empty"),
        ("a file that is not an archive", zip(b"this is no archive".to_vec()), 422, "archive is broken"),
        ("a truncated archive", zip(zipped(&[("bot.py", GOOD)])[..40].to_vec()), 422, "archive is broken"),
        ("an empty file", one("bot.py", b""), 422, "empty"),
        ("a program without a manifest", one("bot.exe", b"MZ"), 422, "this is not a bot file"),
        ("too large", one("bot.py", &vec![b'#'; 65 << 20]), 413, "larger than"),
        ("a file of a folder that leaves it", two("a.py", "../b.py"), 422, "leaves the archive"),
        ("a file of a folder with an absolute path", two("a.py", "/etc/b.py"), 422, "absolute path"),
        ("names that differ by case in a folder", two("a.py", "A.py"), 422, "same name as"),
        ("a device in a folder", two("a.py", "data/con"), 422, "some systems reserve"),
        ("too many files in a folder", form(&many_parts), 422, "more than 1000 files"),
        ("no file", form(&[("name", None, b"Bot")]), 422, "the form has no file"),
        ("an unknown field", form(&[("path", None, b"/etc")]), 422, "unknown field `path`"),
        (
            "a class that is a path",
            form(&[("name", None, b"Bot"), ("class", None, b"../x"), ("file", Some("b.py"), GOOD)]),
            422,
            "not a valid class name",
        ),
        (
            "a role in a game without roles",
            form(&[("name", None, b"Bot"), ("role", None, b"x"), ("file", Some("b.py"), GOOD)]),
            422,
            "no roles",
        ),
        ("no name", form(&[("file", Some("b.py"), GOOD)]), 422, "is missing"),
        (
            "a name that changes the text direction",
            form(&[("name", None, "a\u{202e}b".as_bytes()), ("file", Some("b.py"), GOOD)]),
            422,
            "invisible character",
        ),
        (
            "a truncated form",
            form(&[("file", Some("b.py"), GOOD)])[..60].to_vec(),
            400,
            "form cannot be read",
        ),
    ]
}

#[tokio::test]
async fn hostile_uploads_are_rejected_with_a_clear_message_and_leave_nothing() {
    let site = Site::new().await;
    open_competition(&site, "connect-five", &json!({})).await;
    let author = site.person("author", Role::Author).await;
    let cases = hostile();
    assert!(cases.len() >= 30);
    let mut wrong = Vec::new();
    for (what, body, status, words) in cases {
        let answer = send(&author, "competitions/cup/bots", body).await;
        let message = answer.json["error"]["message"].as_str().unwrap_or_default();
        if answer.status != status || !message.contains(words) {
            wrong.push(format!("{what}: {} {}", answer.status, answer.json));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let data = &site.app.config.data;
    assert_eq!(site.app.site_db.count_queued().await.unwrap(), 0);
    assert!(site.app.site_db.entrants("cup").await.unwrap().iter().all(|one| one.account.is_none()));
    assert!(!data.join("competitions/cup/bots").exists());
    let left = std::fs::read_dir(data.join("incoming")).unwrap().count();
    assert_eq!(left, 0, "files of a rejected upload are left");
}

#[tokio::test]
async fn two_hundred_concurrent_uploads_are_all_queued() {
    let site = Site::new().await;
    let organiser = open_competition(&site, "connect-five", &json!({"per_contributor": 100})).await;
    let authors = [site.person("ada", Role::Author).await, site.person("bob", Role::Author).await];
    let tasks: Vec<_> = (0..200)
        .map(|number| {
            let (author, name) = (authors[number % 2].clone(), format!("Bot {number}"));
            tokio::spawn(async move {
                let body = form(&[("name", None, name.as_bytes()), ("file", Some("Bot.py"), GOOD)]);
                send(&author, "competitions/cup/bots", body).await
            })
        })
        .collect();
    for task in tasks {
        let answer = task.await.unwrap();
        assert_eq!(answer.status, 201, "{}", answer.json);
        assert_eq!(answer.json["state"], "queued");
    }
    assert_eq!(site.app.site_db.count_queued().await.unwrap(), 200);
    // One more of either exceeds the limit, and a restart loses no submission.
    let body = form(&[("name", None, b"Another"), ("file", Some("Bot.py"), GOOD)]);
    let answer = send(&authors[0], "competitions/cup/bots", body).await;
    assert_eq!((answer.status.as_u16(), answer.code()), (409, "too_many"));
    let start = organiser.post("competitions/cup/actions", json!({"action": "start"})).await;
    assert_eq!((start.status.as_u16(), start.code()), (409, "checking"), "{}", start.json);
}

#[tokio::test]
async fn only_authors_submit_while_it_is_open_and_only_their_own_bots() {
    let site = Site::new().await;
    let organiser = open_competition(&site, "colour-battle", &json!({})).await;
    let (ada, bob) = (site.person("ada", Role::Author).await, site.person("bob", Role::Author).await);
    let body = |name: &str| form(&[("name", None, name.as_bytes()), ("file", Some("x/../Bot.py"), GOOD)]);
    let spectator = site.person("eve", Role::Spectator).await;
    for (client, status) in [(&site.anonymous(), 401), (&spectator, 403), (&ada, 422)] {
        assert_eq!(send(client, "competitions/cup/bots", body("A")).await.status, status);
    }
    let good = |name: &str| form(&[("name", None, name.as_bytes()), ("file", Some("Bot.py"), GOOD)]);
    let first = send(&ada, "competitions/cup/bots", good("One")).await;
    assert_eq!(first.status, 201, "{}", first.json);
    let taken = send(&bob, "competitions/cup/bots", good("ONE")).await;
    assert_eq!((taken.status.as_u16(), taken.code()), (409, "taken"));
    assert_eq!(send(&ada, "competitions/cup/bots", good("Two")).await.status, 201);
    let third = send(&ada, "competitions/cup/bots", good("Three")).await;
    assert_eq!((third.status.as_u16(), third.code()), (409, "too_many"), "the limit in Colour Battle is two");
    let versions = format!("competitions/cup/bots/{}/versions", first.json["bot"]);
    let version = form(&[("file", Some("Bot.py"), GOOD)]);
    assert_eq!(send(&bob, &versions, version.clone()).await.status, 403);
    assert_eq!(send(&organiser, &versions, version.clone()).await.status, 403);
    assert_eq!(send(&ada, &versions, version.clone()).await.status, 201);
    let path = format!("submissions/{}", first.json["id"].as_str().unwrap());
    for (client, status) in [(&ada, 200), (&organiser, 200), (&bob, 404), (&site.anonymous(), 401)] {
        assert_eq!(client.get(&path).await.status, status);
    }
    assert_eq!(ada.get("me/bots").await.json["items"].as_array().unwrap().len(), 2);
    assert_eq!(bob.get("me/bots").await.json["items"].as_array().unwrap().len(), 0);
    let bot = format!("competitions/cup/bots/{}", first.json["bot"]);
    assert_eq!(bob.delete(&bot).await.status, 403);
    assert_eq!(ada.delete(&bot).await.status, 204);
    let closed = organiser.post("competitions/cup/actions", json!({"action": "close"})).await;
    assert_eq!(closed.json["state"], "closed");
    let late = send(&bob, "competitions/cup/bots", good("Late")).await;
    assert_eq!((late.status.as_u16(), late.code()), (409, "not_open"));
}

#[tokio::test]
async fn competition_file_with_mistakes_is_rejected_with_their_places() {
    let site = Site::new().await;
    let organiser = site.person("organiser", Role::Organiser).await;
    let presets = organiser.get("presets").await;
    assert_eq!(presets.json["items"].as_array().unwrap().len(), 5);
    let file = "game = \"connect-five\"\nsed = 3\n\n[[phase]]\nformat = \"round-robbin\"\n";
    let bad =
        organiser.post("competitions", json!({"game": "connect-five", "name": "Cup", "file": file})).await;
    assert_eq!((bad.status.as_u16(), &bad.json["error"]["field"]), (422, &json!("file")), "{}", bad.json);
    let mistakes = bad.json["error"]["mistakes"].as_array().unwrap();
    assert!(
        mistakes.len() >= 2
            && mistakes.iter().any(|one| one["what"].as_str().unwrap().contains("round-robbin")),
        "{mistakes:?}"
    );
    let made = organiser
        .post(
            "competitions",
            json!({"game": "connect-five", "name": "My cup!", "house": ["random", "tactician"]}),
        )
        .await;
    assert_eq!((made.status.as_u16(), &made.json["id"]), (201, &json!("my-cup")), "{}", made.json);
    assert_eq!(made.json["house"], json!(["random", "tactician"]));
    let again = organiser.post("competitions", json!({"game": "connect-five", "name": "My cup!"})).await;
    assert_eq!(again.json["id"], "my-cup-2");
    for action in ["close", "pause", "resume", "next"] {
        let refused = organiser.post("competitions/my-cup/actions", json!({"action": action})).await;
        assert_eq!((refused.status.as_u16(), refused.code()), (409, "state"), "{action}: {}", refused.json);
    }
    let file = made.json["file"].as_str().unwrap().replace("legs = 2", "legs = 4");
    let edited = organiser.put("competitions/my-cup/file", json!({"file": file})).await;
    assert!(edited.json["file"].as_str().unwrap().contains("legs = 4"), "{}", edited.json);
    assert_eq!(edited.json["house"], json!(["random", "tactician"]));
    assert_eq!(organiser.delete("competitions/my-cup-2").await.status, 204);
    let audit = organiser.get("audit").await;
    let actions: Vec<&str> =
        audit.json["items"].as_array().unwrap().iter().map(|one| one["action"].as_str().unwrap()).collect();
    assert_eq!(
        actions,
        ["competition.delete", "competition.file", "competition.create", "competition.create"]
    );
    let author = site.person("author", Role::Author).await;
    assert_eq!(author.post("competitions", json!({"game": "connect-five", "name": "x"})).await.status, 403);
    assert_eq!(author.post("competitions/my-cup/actions", json!({"action": "open"})).await.status, 403);
}

#[tokio::test]
async fn phase_that_the_site_database_rejects_is_not_shown() {
    let site = Site::new().await;
    let house = json!({"house": ["random", "tactician"]});
    open_competition(&site, "connect-five", &house).await;
    // As if another organiser had changed the state since it was read.
    let read = site.app.site_db.competition("cup").await.unwrap();
    let read = HostedCompetition { state: CompetitionState::Waiting, ..read };
    let shown = site.app.competitions.get("cup").unwrap();
    let (revision, file) = (shown.revision(), Path::new(&read.file).to_owned());
    let refused = agon_server::runs::entrants::start_phase(&site.app, &read, 1).await;
    assert!(refused.is_err(), "the competition is not waiting");
    assert_eq!(shown.revision(), revision, "the phase is shown although it is not stored");
    assert!(!file.exists(), "the file for the command line has the phase although it is not stored");
    assert_eq!(site.app.site_db.competition("cup").await.unwrap().allowed_phase, read.allowed_phase);
}

#[tokio::test]
async fn endless_form_is_aborted_and_not_buffered() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    const PIECE: usize = 64 * 1024;
    let site = Site::new().await;
    open_competition(&site, "connect-five", &json!({"max_bytes": 100_000})).await;
    let author = site.person("ada", Role::Author).await;
    let data = site.app.config.data.clone();
    // Endless content before the first part, in the header of a part, in a text, in a file, in an unknown part.
    let head = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=");
    for start in [
        String::new(),
        head.clone(),
        format!("{head}\"class\"\r\n\r\n"),
        format!("{head}\"file\"\r\n\r\n"),
        format!("{head}\"\"\r\n\r\n"),
    ] {
        let sent = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&sent);
        let begin = futures_util::stream::iter([Ok::<_, std::io::Error>(bytes::Bytes::from(start.clone()))]);
        let rest = futures_util::stream::iter((0..4_000).map(move |_| {
            counted.fetch_add(PIECE, Ordering::Relaxed);
            Ok(bytes::Bytes::from(vec![b'x'; PIECE]))
        }));
        let mut request = author.request("POST", "competitions/cup/bots");
        let kind = format!("multipart/form-data; boundary={BOUNDARY}");
        request.headers_mut().insert(header::CONTENT_TYPE, kind.parse().unwrap());
        *request.body_mut() = Body::from_stream(futures_util::StreamExt::chain(begin, rest));
        let answer = author.ask(request).await;
        assert!([413, 422].contains(&answer.status.as_u16()), "{start:?}: {} {}", answer.status, answer.json);
        assert!(
            sent.load(Ordering::Relaxed) < 2 << 20,
            "{start:?}: {} bytes were read",
            sent.load(Ordering::Relaxed)
        );
        assert_eq!(std::fs::read_dir(data.join("incoming")).unwrap().count(), 0, "{start:?}");
    }
}
