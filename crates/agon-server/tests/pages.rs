//! The files and the page of the web app, as browsers get them.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]

mod common;

use std::io::Read as _;

use common::Site;

#[tokio::test]
async fn address_that_is_not_a_file_gives_the_page() {
    let site = Site::new().await;
    let Some(page) = agon_web::app("index.html") else {
        let answer = site.anonymous().get("/").await;
        assert_eq!(answer.status, 503);
        let text = String::from_utf8_lossy(&answer.bytes).into_owned();
        assert!(text.contains("has no web app in it") && text.contains("hint: run `make build`"), "{text}");
        return;
    };
    for path in [
        "/",
        "/c/some-cup",
        "/c/some-cup/p/1/m/1-1/g/1",
        "/embed/some-cup/1/1-1/1",
        "/signup?invite=x",
        "/index.html",
        "/%ff",
        "/..",
    ] {
        let answer = site.anonymous().get(path).await;
        assert_eq!(
            (answer.status.as_u16(), answer.header("content-type")),
            (200, "text/html; charset=utf-8"),
            "{path}"
        );
        // The page is the same but for the name of the site.
        let text = String::from_utf8_lossy(&answer.bytes).into_owned();
        let name = "<title>Agon</title>\n    <meta property=\"og:site_name\" content=\"Agon\" />";
        let built = String::from_utf8_lossy(&page.bytes).replacen("<title>Agon</title>", name, 1);
        assert_eq!(text, built, "{path}");
        assert_eq!(answer.header("cache-control"), "no-cache", "{path}");
    }
    let tag = site.anonymous().get("/").await.header("etag").to_owned();
    let again = site.anonymous().header("if-none-match", &tag).get("/").await;
    assert_eq!((again.status.as_u16(), again.bytes.len()), (304, 0));
    assert_eq!(site.anonymous().send("POST", "/", None).await.status, 405);
}

#[tokio::test]
async fn files_are_immutable_and_compressed() {
    let site = Site::new().await;
    assert_eq!(site.anonymous().get("/assets/nonsense.js").await.status, 404);
    let Some(page) = agon_web::app("index.html") else {
        return agon_test_servers::cannot_run(agon_test_servers::Lacks::Setup, "web/dist was not built");
    };
    let page = String::from_utf8_lossy(&page.bytes).into_owned();
    let scripts: Vec<&str> = page.split('"').filter(|part| part.starts_with("/assets/")).collect();
    assert!(!scripts.is_empty(), "{page}");
    for path in scripts {
        let plain = site.anonymous().get(path).await;
        assert_eq!(plain.header("cache-control"), "public, max-age=31536000, immutable", "{path}");
        assert!(plain.header("content-encoding").is_empty());
        for _ in 0..2 {
            let packed = site.anonymous().header("accept-encoding", "br, gzip;q=0.8").get(path).await;
            assert_eq!(
                (packed.header("content-encoding"), packed.header("vary")),
                ("gzip", "Accept-Encoding"),
                "{path}"
            );
            let mut text = Vec::new();
            flate2::read::GzDecoder::new(&packed.bytes[..]).read_to_end(&mut text).unwrap();
            assert_eq!(text, plain.bytes, "{path}");
            assert_ne!(packed.header("etag"), plain.header("etag"), "the compressed body has the same ETag");
        }
        let unwanted = site.anonymous().header("accept-encoding", "gzip;q=0").get(path).await;
        assert!(unwanted.header("content-encoding").is_empty());
        let tag = plain.header("etag").to_owned();
        assert_eq!(site.anonymous().header("if-none-match", &tag).get(path).await.status, 304);
    }
}
