//! Sharing: pictures, GIFs, cards, the tags of pages for previews of links, and oEmbed.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use agon_site_db::{CompetitionState, Role};
use common::competition::played;
use common::{Answer, Site};

const GAME: &str = "competitions/cup/phases/1/matches/1-1/games/1";

/// A competition of two bots. The first has a name that would be markup if it were not escaped.
fn competition(game: &str, bots: [&str; 2], rest: &str) -> String {
    let [first, second] = bots;
    format!(
        "name = \"The <b>Cup</b>\"\ngame = \"{game}\"\nseed = \"a seed\"\n\n{rest}\n\n[[phase]]\nname = \"First\"\n\
         format = \"round-robin\"\n\n[[entrant]]\nname = \"\\\"><script>\"\nbot = \"house:{first}\"\n\n[[entrant]]\nbot = \"house:{second}\"\n"
    )
}

fn write(site: &Site, id: &str, text: &str) {
    let file = site.competition_file(id);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, text).unwrap();
}

/// A site with a played competition `cup` of Connect Five.
async fn site() -> Site {
    let site = Site::new().await;
    write(&site, "cup", &competition("connect-five", ["random", "tactician"], ""));
    played(&site.competition_file("cup"));
    site.host("cup", CompetitionState::Finished, &[]).await;
    site
}

/// Width and height of a picture.
fn png_size(answer: &Answer) -> (u32, u32) {
    assert_eq!(
        (answer.status.as_u16(), answer.header("content-type")),
        (200, "image/png"),
        "{}",
        answer.json
    );
    let number = |at: usize| u32::from_be_bytes(answer.bytes[at..at + 4].try_into().unwrap());
    assert_eq!(&answer.bytes[1..4], b"PNG");
    (number(16), number(20))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_is_a_picture_with_an_etag() {
    let site = site().await;
    let client = site.anonymous();
    let first = client.get(&format!("{GAME}/picture.png?turn=0")).await;
    assert_eq!(png_size(&first).0, 800);
    let later = client.get(&format!("{GAME}/picture.png?turn=3&width=400&theme=light")).await;
    assert_eq!(png_size(&later).0, 400);
    assert_ne!(first.header("etag"), later.header("etag"));
    assert_eq!(first.header("cross-origin-resource-policy"), "cross-origin");
    let again = client.get(&format!("{GAME}/picture.png?turn=0")).await;
    assert_eq!(again.bytes, first.bytes, "the same picture is always the same");
    let known = client.clone().header("if-none-match", first.header("etag"));
    let known = known.get(&format!("{GAME}/picture.png?turn=0")).await;
    assert_eq!((known.status.as_u16(), known.bytes.len()), (304, 0));
    assert_eq!(png_size(&client.get(&format!("{GAME}/card.png")).await), (1200, 630));
    assert_eq!(png_size(&client.get("competitions/cup/card.png").await), (1200, 630));
    let bot = client.get("competitions/cup").await.json["entrants"][0]["bot"].clone();
    assert_eq!(png_size(&client.get(&format!("competitions/cup/bots/{bot}/card.png")).await), (1200, 630));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_range_of_turns_is_a_gif() {
    let site = site().await;
    let client = site.anonymous();
    let gif = client.get(&format!("{GAME}/clip.gif?from=0&to=4&speed=2&width=240")).await;
    assert_eq!((gif.status.as_u16(), gif.header("content-type")), (200, "image/gif"));
    assert_eq!(&gif.bytes[..6], b"GIF89a");
    let width = u16::from_le_bytes([gif.bytes[6], gif.bytes[7]]);
    assert_eq!(width, 240);
    assert_eq!(client.get(&format!("{GAME}/clip.gif?from=0&to=4&speed=2&width=240")).await.bytes, gif.bytes);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_parameters_are_named() {
    let site = site().await;
    let client = site.anonymous();
    for (path, status, code) in [
        ("picture.png?turn=99999", 404, "not_found"),
        ("picture.png?seat=2", 404, "not_found"),
        ("picture.png?turn=x", 422, "invalid"),
        ("picture.png?theme=blue", 422, "invalid"),
        ("picture.png?width=100000", 422, "invalid"),
        ("clip.gif?from=4&to=2", 422, "invalid"),
        ("clip.gif?speed=0", 422, "invalid"),
        ("clip.gif?width=5000", 422, "invalid"),
        ("clip.gif?to=99999", 404, "not_found"),
    ] {
        let answer = client.get(&format!("{GAME}/{path}")).await;
        assert_eq!((answer.status.as_u16(), answer.code()), (status, code), "{path}");
    }
    for path in
        ["competitions/cup/phases/1/matches/1-1/games/9/picture.png", "competitions/cup/bots/99/card.png"]
    {
        assert_eq!(client.get(path).await.status, 404, "{path}");
    }
    assert_eq!(client.get("competitions/cup/card.png?theme=x").await.status, 422);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn games_with_hidden_seeds_have_no_pictures() {
    let site = Site::new().await;
    let rest = "[settings]\nsteps = 40";
    let text = competition("hide-and-seek", ["random-seeker", "random-hider"], rest)
        .replace("format = \"round-robin\"", "format = \"cross\"\nboards = 2")
        + "\n[[phase]]\nname = \"Second\"\nresubmit = true\nformat = \"cross\"\nboards = 2\n";
    write(&site, "cup", &text);
    played(&site.competition_file("cup"));
    site.host("cup", CompetitionState::Waiting, &[]).await;
    let organiser = site.person("organiser", Role::Organiser).await;
    for client in [&site.anonymous(), &organiser] {
        let hidden = client.get("competitions/cup").await.json["phases"][0]["hidden"].clone();
        assert_eq!(hidden, true);
        for path in ["picture.png", "card.png", "clip.gif"] {
            let answer = client.get(&format!("{GAME}/{path}")).await;
            assert_eq!((answer.status.as_u16(), answer.code()), (403, "hidden"), "{path}");
        }
    }
    // The page of the game has the preview of the competition.
    let page = text_of(&site, "/c/cup/p/1/m/1-1/g/1").await;
    if let Some(page) = page {
        assert!(page.contains("/api/v1/competitions/cup/card.png"), "{page}");
        assert!(!page.contains("oembed"), "{page}");
    }
}

/// A page; `None` if this build has no web app.
async fn text_of(site: &Site, path: &str) -> Option<String> {
    agon_web::app("index.html")?;
    let client = site.anonymous().header("host", "agon.test:8080");
    let answer = client.get(path).await;
    assert_eq!(answer.status, 200, "{path}");
    Some(String::from_utf8_lossy(&answer.bytes).into_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_name_what_they_show() {
    let site = site().await;
    let Some(page) = text_of(&site, "/c/cup/standings").await else {
        return agon_test_servers::cannot_run(agon_test_servers::Lacks::Setup, "web/dist was not built");
    };
    assert!(page.contains("<title>The &lt;b&gt;Cup&lt;/b&gt; · Agon</title>"), "{page}");
    assert!(page.contains("content=\"http://agon.test:8080/api/v1/competitions/cup/card.png\""), "{page}");
    assert!(!page.contains("<script>") && !page.contains("<b>"), "{page}");
    let game = text_of(&site, "/c/cup/p/1/m/1-1/g/1?t=3").await.unwrap();
    assert!(game.contains("/games/1/card.png?turn=3\""), "{game}");
    assert!(game.contains("type=\"application/json+oembed\""), "{game}");
    let bot = site.anonymous().get("competitions/cup").await.json["entrants"][0]["bot"].clone();
    let bot_page = text_of(&site, &format!("/c/cup/bots/{bot}")).await.unwrap();
    assert!(bot_page.contains(&format!("/competitions/cup/bots/{bot}/card.png")), "{bot_page}");
    // An address without a page of its own says no more than the front page.
    let front = text_of(&site, "/").await.unwrap();
    for path in ["/c/missing", "/c/cup/bots/999", "/c/cup/p/1/m/9-9/g/1", "/played/0123456789abcdef"] {
        assert_eq!(text_of(&site, path).await.unwrap(), front, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_say_nothing_of_drafts_and_private_sites() {
    let site = Site::new().await;
    write(&site, "draft", &competition("connect-five", ["random", "tactician"], ""));
    site.host("draft", CompetitionState::Draft, &[]).await;
    if let Some(page) = text_of(&site, "/c/draft").await {
        assert_eq!(page, text_of(&site, "/").await.unwrap());
    }
    let private = Site::with(|config| config.private = true).await;
    write(&private, "cup", &competition("connect-five", ["random", "tactician"], ""));
    played(&private.competition_file("cup"));
    private.host("cup", CompetitionState::Finished, &[]).await;
    if let Some(page) = text_of(&private, "/c/cup").await {
        assert_eq!(page, text_of(&private, "/").await.unwrap());
    }
    assert_eq!(private.anonymous().get("competitions/cup/card.png").await.status, 401);
    assert_eq!(private.anonymous().get("oembed?url=x").await.status, 401);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn oembed_describes_the_embedded_replay() {
    let site = site().await;
    let client = site.anonymous().header("host", "agon.test:8080");
    let url = "http%3A%2F%2Fagon.test%3A8080%2Fc%2Fcup%2Fp%2F1%2Fm%2F1-1%2Fg%2F1%3Ft%3D3";
    let answer = client.get(&format!("oembed?url={url}&maxwidth=600")).await;
    assert_eq!(answer.status, 200, "{}", answer.json);
    let body = &answer.json;
    assert_eq!(
        (&body["type"], &body["version"], &body["width"]),
        (&"rich".into(), &"1.0".into(), &600.into())
    );
    let html = body["html"].as_str().unwrap();
    assert!(html.starts_with("<iframe src=\"http://agon.test:8080/embed/cup/1/1-1/1?t=3\""), "{html}");
    assert!(html.contains("&quot;&gt;&lt;script&gt;") && !html.contains("<script>"), "{html}");
    assert!(body["thumbnail_url"].as_str().unwrap().ends_with("/card.png?turn=3"));
    for (query, status) in [
        ("url=http%3A%2F%2Fother.test%2Fc%2Fcup", 404),
        ("url=http%3A%2F%2Fagon.test%3A8080%2Fc%2Fcup", 404),
        ("url=http%3A%2F%2Fagon.test%3A8080%2Fme", 404),
        ("", 422),
    ] {
        assert_eq!(client.get(&format!("oembed?{query}")).await.status, status, "{query}");
    }
    assert_eq!(client.get(&format!("oembed?url={url}&format=xml")).await.status, 501);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pictures_for_one_address_have_a_maximum_rate() {
    use agon_server::config::Rate;
    let rate = Rate { burst: 2, every: std::time::Duration::from_secs(3600) };
    let site = Site::with(|config| config.limits.pictures = rate).await;
    write(&site, "cup", &competition("connect-five", ["random", "tactician"], ""));
    played(&site.competition_file("cup"));
    site.host("cup", CompetitionState::Finished, &[]).await;
    let client = site.anonymous();
    for turn in 0..2 {
        assert_eq!(client.get(&format!("{GAME}/picture.png?turn={turn}")).await.status, 200);
    }
    let answer = client.get(&format!("{GAME}/picture.png?turn=2")).await;
    assert_eq!((answer.status.as_u16(), answer.code()), (429, "too_often"));
    assert_eq!(
        client.get(&format!("{GAME}/picture.png?turn=1")).await.status,
        200,
        "a kept picture costs nothing"
    );
}
