//! The page of the app with the title, description and picture of what it shows. Browsers replace the title when the app has started;
//! sites that show previews of links run no scripts and read these tags.

use std::fmt::Write as _;
use std::time::Duration;

use agon_core::text_format::html_escape;
use agon_pictures::card;
use axum::http::{HeaderMap, Uri, header};

use super::page_tags::{PageTags, SharedPage};
use crate::config::Config;
use crate::state::AppState;

/// Time for finding out what a page shows. After it, the page is sent without tags.
const TAGS_TIMEOUT: Duration = Duration::from_secs(2);
/// The title in the built page, which is replaced.
const TITLE: &str = "<title>Agon</title>";
/// Maximum number of characters of a host name with its port.
const MAX_HOST_CHARS: usize = 255;

/// The page of the app for this address. Without anything to be said about it, the page has the name of the site only.
pub async fn page(app: &AppState, html: &str, uri: &Uri, headers: &HeaderMap) -> String {
    let tags = match SharedPage::of_path(uri.path()) {
        Some(page) => match tokio::time::timeout(TAGS_TIMEOUT, page.tags(app, turn(uri))).await {
            Ok(Ok(tags)) => tags,
            // A page that does not exist, or must not be seen, says no more than any other page.
            Ok(Err(_)) => None,
            Err(_) => {
                tracing::warn!(path = uri.path(), "the tags of a page were not ready in time");
                None
            }
        },
        None => None,
    };
    insert(html, &head(tags.as_ref(), &app.config.name, &base_url(&app.config, headers)))
}

/// Turn of a link: `?t=12`.
fn turn(uri: &Uri) -> Option<usize> {
    uri.query()?.split('&').find_map(|pair| pair.strip_prefix("t="))?.parse().ok()
}

/// Address of the site, without a slash at its end: the configured one, or else the host that the browser connected to.
pub fn base_url(config: &Config, headers: &HeaderMap) -> String {
    if config.public_url.is_some() {
        return config.url();
    }
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).filter(|host| is_host(host));
    host.map_or_else(|| config.url(), |host| format!("http://{host}"))
}

/// Whether a text is a host name or an address, with or without a port.
fn is_host(text: &str) -> bool {
    let known = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b':' | b'[' | b']');
    !text.is_empty() && text.len() <= MAX_HOST_CHARS && text.bytes().all(known)
}

fn insert(html: &str, head: &str) -> String {
    html.replacen(TITLE, head, 1)
}

fn head(tags: Option<&PageTags>, site: &str, base: &str) -> String {
    let mut head = match tags {
        Some(tags) => format!("<title>{} · {}</title>", html_escape(&tags.title), html_escape(site)),
        None => format!("<title>{}</title>", html_escape(site)),
    };
    let mut meta = |key: &str, name: &str, content: &str| {
        // Writing to a string does not fail.
        let _ = write!(head, "\n    <meta {key}=\"{name}\" content=\"{}\" />", html_escape(content));
    };
    meta("property", "og:site_name", site);
    let Some(tags) = tags else { return head };
    meta("name", "description", &tags.description);
    meta("property", "og:type", "website");
    meta("property", "og:title", &tags.title);
    meta("property", "og:description", &tags.description);
    meta("property", "og:url", &format!("{base}{}", tags.page));
    meta("property", "og:image", &format!("{base}{}", tags.card));
    meta("property", "og:image:type", "image/png");
    meta("property", "og:image:width", &card::WIDTH.to_string());
    meta("property", "og:image:height", &card::HEIGHT.to_string());
    meta("property", "og:image:alt", &tags.title);
    meta("name", "twitter:card", "summary_large_image");
    if tags.embed.is_some() {
        let url = format!("{base}/api/v1/oembed?url={}", percent_encode(&format!("{base}{}", tags.page)));
        let _ = write!(
            head,
            "\n    <link rel=\"alternate\" type=\"application/json+oembed\" href=\"{}\" title=\"{}\" />",
            html_escape(&url),
            html_escape(&tags.title),
        );
    }
    head
}

/// A text as part of a query string.
fn percent_encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    const HTML: &str = "<head>\n    <title>Agon</title>\n  </head>";

    #[test]
    fn names_are_text_and_never_markup() {
        let tags = PageTags {
            title: "</title><script>alert(1)</script>".to_owned(),
            description: "a \"quoted\" & <b>bold</b> text".to_owned(),
            page: "/c/cup".to_owned(),
            card: "/api/v1/competitions/cup/card.png".to_owned(),
            embed: None,
        };
        let html = insert(HTML, &head(Some(&tags), "A & B", "https://agon.test"));
        assert!(!html.contains("<script>") && !html.contains("<b>"), "{html}");
        assert!(
            html.contains("content=\"a &quot;quoted&quot; &amp; &lt;b&gt;bold&lt;/b&gt; text\""),
            "{html}"
        );
        assert!(html.contains("content=\"https://agon.test/api/v1/competitions/cup/card.png\""), "{html}");
        assert_eq!(html.matches("<title>").count(), 1);
        assert!(!html.contains("oembed"));
    }

    #[test]
    fn a_game_names_its_embedded_replay() {
        let tags = PageTags {
            title: "a – b".to_owned(),
            description: String::new(),
            page: "/played/ab?t=3".to_owned(),
            card: "/api/v1/played/ab/card.png?turn=3".to_owned(),
            embed: Some("/embed/played/ab?t=3".to_owned()),
        };
        let head = head(Some(&tags), "Agon", "http://127.0.0.1:80");
        let link = "href=\"http://127.0.0.1:80/api/v1/oembed?url=http%3A%2F%2F127.0.0.1%3A80%2Fplayed%2Fab%3Ft%3D3\"";
        assert!(head.contains(link), "{head}");
    }

    #[test]
    fn the_host_of_a_request_is_used_only_if_it_is_a_host() {
        let mut config = Config::new("data");
        let of = |config: &Config, host: &str| {
            let mut headers = HeaderMap::new();
            if let Ok(value) = HeaderValue::from_str(host) {
                headers.insert(header::HOST, value);
            }
            base_url(config, &headers)
        };
        assert_eq!(of(&config, "agon.test:8080"), "http://agon.test:8080");
        assert_eq!(of(&config, "[::1]:8080"), "http://[::1]:8080");
        for wrong in ["", "a b", "evil\"onload=", "a/b", "user@host"] {
            assert_eq!(of(&config, wrong), config.url(), "{wrong}");
        }
        config.public_url = Some("https://agon.example.org/".to_owned());
        assert_eq!(of(&config, "other.test"), "https://agon.example.org");
    }

    #[test]
    fn the_turn_of_a_link_is_read_from_the_query() {
        assert_eq!(turn(&"/played/ab?x=1&t=12".parse().unwrap()), Some(12));
        assert_eq!(turn(&"/played/ab?t=-1".parse().unwrap()), None);
        assert_eq!(turn(&"/played/ab".parse().unwrap()), None);
    }
}
