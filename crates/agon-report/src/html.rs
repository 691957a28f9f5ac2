//! What every page is made of: texts that stay texts, tables, the frame around a page.

use crate::STYLE_FILE;
use crate::data::{Timestamp, Report};
use crate::text_format::moment;

/// Text as HTML. What somebody else wrote is words here, never markup; characters that turn the direction of writing, or that
/// nobody sees, are spelt out.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            '\n' | '\t' => out.push(c),
            _ if c.is_control() || deceives(c) => out.extend(c.escape_unicode()),
            _ => out.push(c),
        }
    }
    out
}

const fn deceives(c: char) -> bool {
    matches!(c,
        '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Somebody's name or words in a line of ours: they do not change the direction of what is around them.
pub fn bidi_isolate(text: &str) -> String {
    format!("<bdi>{}</bdi>", escaped(text))
}

/// A link inside the report.
pub fn link(to: &str, inner: &str) -> String {
    format!("<a href=\"{}\">{inner}</a>", escaped(to))
}

/// A part of a page with a heading.
pub fn section(id: &str, title: &str, inner: &str) -> String {
    if inner.is_empty() {
        return String::new();
    }
    let (id, title) = (escaped(id), escaped(title));
    // Not a landmark: the table in it is one, and once is enough to hear.
    format!("<section id=\"{id}\">\n<h2>{title}</h2>\n{inner}</section>\n")
}

/// Words with what they mean.
pub fn definition_list(facts: &[(&str, String)]) -> String {
    let mut text = "<dl class=\"facts\">\n".to_owned();
    for (word, is) in facts.iter().filter(|(_, is)| !is.is_empty()) {
        text += &format!("<div><dt>{}</dt><dd>{is}</dd></div>\n", escaped(word));
    }
    text + "</dl>\n"
}

/// A moment that is not broken.
pub fn when(at: Timestamp) -> String {
    format!("<span class=\"when\">{}</span>", moment(at))
}

/// A paragraph in smaller letters. Its words are escaped here.
pub fn note(text: &str) -> String {
    format!("<p class=\"note\">{}</p>\n", escaped(text))
}

/// The title of a column.
#[derive(Clone, Copy, Debug)]
pub struct ColumnTitle<'t> {
    /// Words.
    pub text: &'t str,
    /// How its cells stand: `n` are numbers, to the right; `w` are sentences, which may be broken; nothing is words that are not.
    pub class: &'static str,
}

/// A column of words.
pub const fn words(text: &str) -> ColumnTitle<'_> {
    ColumnTitle { text, class: "" }
}

/// A column of sentences.
pub const fn prose(text: &str) -> ColumnTitle<'_> {
    ColumnTitle { text, class: "w" }
}

/// A column of numbers.
pub const fn number(text: &str) -> ColumnTitle<'_> {
    ColumnTitle { text, class: "n" }
}

/// A table whose cells are HTML. The cell at `head` names its row.
pub struct HtmlTable<'t> {
    /// What it is, for people who do not see where it stands.
    pub caption: &'t str,
    /// From left to right.
    pub titles: Vec<ColumnTitle<'t>>,
    /// Which cell names the row.
    pub head: usize,
    /// From top to bottom.
    pub rows: Vec<Vec<String>>,
}

impl HtmlTable<'_> {
    /// The table. Wider than the screen it scrolls by itself, also by keyboard.
    pub fn html(&self) -> String {
        let class = |title: &ColumnTitle<'_>| match title.class {
            "" => String::new(),
            class => format!(" class=\"{class}\""),
        };
        let mut text = "<table>\n".to_owned();
        text += &format!("<caption>{}</caption>\n<thead>\n<tr>", escaped(self.caption));
        for title in &self.titles {
            text += &format!("<th scope=\"col\"{}>{}</th>", class(title), escaped(title.text));
        }
        text += "</tr>\n</thead>\n<tbody>\n";
        for row in &self.rows {
            text += "<tr>";
            for (at, (title, cell)) in self.titles.iter().zip(row).enumerate() {
                let class = class(title);
                text += &if at == self.head {
                    format!("<th scope=\"row\"{class}>{cell}</th>")
                } else {
                    format!("<td{class}>{cell}</td>")
                };
            }
            text += "</tr>\n";
        }
        scrolling(self.caption, &(text + "</tbody>\n</table>\n"))
    }
}

/// Something that may be wider than the screen.
pub fn scrolling(label: &str, inner: &str) -> String {
    format!(
        "<div class=\"scroll\" role=\"region\" aria-label=\"{}\" tabindex=\"0\">\n{inner}</div>\n",
        escaped(label)
    )
}

/// A page and where it stands.
pub struct Page<'p> {
    /// Of which report.
    pub report: &'p Report,
    /// Its path in the report: links depend on it.
    pub path: &'p str,
    /// Its heading.
    pub title: String,
    /// What stands above the heading, as HTML: where we are.
    pub above: String,
    /// What follows the heading, as HTML.
    pub body: String,
    /// The replay viewer's script and style, for a page that plays a film.
    pub viewer: Option<Viewer<'p>>,
}

/// The files of the replay viewer, at the root of the report.
#[derive(Clone, Copy, Debug)]
pub struct Viewer<'v> {
    /// Its script.
    pub script: &'v str,
    /// Its style sheet.
    pub style: &'v str,
}

/// How to get from a page to the root of the report.
pub fn path_to_root(path: &str) -> &'static str {
    if path.contains('/') { "../" } else { "" }
}

impl Page<'_> {
    /// The whole page. Its policy lets nothing in from elsewhere: pages from disk are `file:`, from a server `'self'`.
    pub fn html(&self) -> String {
        let up = path_to_root(self.path);
        let title = escaped(&self.title);
        let site = if self.title == self.report.name {
            String::new()
        } else {
            format!(" - {}", escaped(&self.report.name))
        };
        let (mut script_rule, mut head, mut foot) = ("", String::new(), String::new());
        if let Some(viewer) = &self.viewer {
            script_rule = " script-src 'self' file:;";
            head = format!("<link rel=\"stylesheet\" href=\"{up}{}\">\n", viewer.style);
            foot = format!("<script src=\"{up}{}\"></script>\n", viewer.script);
        }
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';{script_rule} \
             style-src 'self' file: 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
             <title>{title}{site}</title>\n<link rel=\"icon\" href=\"data:,\">\n\
             <link rel=\"stylesheet\" href=\"{up}{STYLE_FILE}\">\n{head}</head>\n<body>\n\
             <a class=\"skip\" href=\"#main\">To the content</a>\n{}<main id=\"main\">\n{}<h1>{}</h1>\n{}</main>\n\
             <footer>\n<p>Written by Agon on {}.</p>\n</footer>\n{foot}</body>\n</html>\n",
            self.navigation(),
            self.above,
            bidi_isolate(&self.title),
            self.body,
            moment(self.report.written),
        )
    }

    /// The pages everybody wants, with the one we are on marked.
    fn navigation(&self) -> String {
        let up = path_to_root(self.path);
        let mut list = vec![("summary.html".to_owned(), "Summary".to_owned())];
        for phase in self.report.phases.iter().filter(|phase| phase.is_begun()) {
            list.push((phase.file(), phase.name.clone()));
        }
        let mut text = "<header>\n<nav aria-label=\"Report\">\n<ul>\n".to_owned();
        for (file, name) in list {
            let current = if file == self.path { " aria-current=\"page\"" } else { "" };
            text += &format!("<li><a href=\"{up}{file}\"{current}>{}</a></li>\n", bidi_isolate(&name));
        }
        text + "</ul>\n</nav>\n</header>\n"
    }
}
