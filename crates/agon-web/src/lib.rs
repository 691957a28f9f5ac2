//! The replay viewer, as it is built in the folder `web/`, and the page around it.
//!
//! [`replay_page`] is a page of its own that opens from disk. A site with many films links [`SCRIPT`] and [`STYLE`] and puts
//! [`viewer_html`] into each page.

use std::borrow::Cow;

use agon_core::text_format::html_escape;
use rust_embed::RustEmbed;
use serde_json::Value as Json;

/// The name of the viewer's script among the [`asset`]s.
pub const SCRIPT: &str = "viewer.js";
/// The name of its style sheet.
pub const STYLE: &str = "viewer.css";

const TEMPLATE: &str = include_str!("page.html");

#[derive(RustEmbed)]
#[folder = "../../web/dist"]
#[include = "viewer.js"]
#[include = "viewer.css"]
#[include = "app/*"]
struct Dist;

/// A file of the web app.
#[derive(Clone, Debug)]
pub struct Asset {
    /// What is in it.
    pub bytes: Cow<'static, [u8]>,
    /// Changes when it does.
    pub etag: String,
    /// What it is, for a browser.
    pub mime: &'static str,
}

/// A file of the server's web app, by its path below `web/dist/app`; `None` too if this build has no app.
pub fn app(path: &str) -> Option<Asset> {
    let file = Dist::get(&format!("app/{path}"))?;
    let mut etag = String::new();
    for byte in file.metadata.sha256_hash().iter().take(12) {
        etag += &format!("{byte:02x}");
    }
    Some(Asset { bytes: file.data, etag, mime: mime(path) })
}

fn mime(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" | "webmanifest" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "webp" => "image/webp",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

/// A built file by its name.
pub fn asset(name: &str) -> Option<Cow<'static, [u8]>> {
    Dist::get(name).map(|file| file.data)
}

/// The page for one film: script, style and film in one file, nothing from elsewhere (its policy forbids it). Names and words
/// of bots are data to it, never markup.
pub fn replay_page(film: &Json) -> String {
    let title = film["title"].as_str().unwrap_or("Agon");
    let names: Vec<&str> = film["names"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    let heading = if names.len() > 4 {
        format!("{title}: {} bots", names.len())
    } else {
        format!("{title}: {}", names.join(" - "))
    };
    let style = text(STYLE).replace("</", "<\\/");
    let parts = [
        ("{title}", html_escape(&heading)),
        ("{style}", style),
        ("{mount}", viewer_html(film)),
        ("{script}", in_script(&text(SCRIPT))),
    ];
    // The parts are put in from left to right, each once: what stands in one of them is never looked through.
    let mut page = String::new();
    let mut rest = TEMPLATE;
    for (mark, part) in parts {
        let (before, after) = rest.split_once(mark).unwrap_or((rest, ""));
        page.push_str(before);
        page.push_str(&part);
        rest = after;
    }
    page + rest
}

/// The place where the viewer shows a film, with the film in it. The script fills every such place of a page.
pub fn viewer_html(film: &Json) -> String {
    // Inside a script element only `<` could end the data.
    let film = film.to_string().replace('<', "\\u003c");
    format!("<div class=\"agon-replay\"><script type=\"application/json\">{film}</script></div>")
}

fn text(name: &str) -> String {
    asset(name).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// In a script, nothing may look like the end of it or the start of another.
fn in_script(script: &str) -> String {
    script.replace("</script", "<\\/script").replace("<script", "\\x3cscript").replace("<!--", "\\x3c!--")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_data_and_marks_in_them_are_not_filled() {
        let hostile = "</script><script>alert(1)</script>{script}{mount}<!--";
        let film = json!({"title": "T", "names": [hostile, "b"]});
        let page = replay_page(&film);
        assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert"));
        assert_eq!(page.matches("<script").count(), 2, "the film and the viewer");
        assert_eq!(page.matches("</script").count(), 2);
        let data = page.split("application/json\">").nth(1).and_then(|rest| rest.split("</script>").next());
        assert_eq!(serde_json::from_str::<Json>(data.unwrap_or_default()).ok(), Some(film));
    }

    #[test]
    fn the_viewer_is_there() {
        assert!(text(SCRIPT).contains("Agon") && text(STYLE).contains(".replay"));
    }
}
