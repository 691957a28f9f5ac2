//! Building blocks of the pages: escaping, tables, and the page frame.

pub use agon_core::text_format::html_escape;

use crate::STYLE_FILE;
use crate::data::{Report, Timestamp};
use crate::text_format::format_time;

/// Wraps text from users in `<bdi>`, so that it does not change the direction of the surrounding text.
pub fn bidi_isolate(text: &str) -> String {
    format!("<bdi>{}</bdi>", html_escape(text))
}

/// A link inside the report.
pub fn link(to: &str, inner: &str) -> String {
    format!("<a href=\"{}\">{inner}</a>", html_escape(to))
}

/// A section of a page with a heading. Empty if `inner` is.
pub fn section(id: &str, title: &str, inner: &str) -> String {
    if inner.is_empty() {
        return String::new();
    }
    let (id, title) = (html_escape(id), html_escape(title));
    // Not a landmark: the table inside is one already.
    format!("<section id=\"{id}\">\n<h2>{title}</h2>\n{inner}</section>\n")
}

/// A definition list of terms and their values. Entries without a value are left out.
pub fn definition_list(facts: &[(&str, String)]) -> String {
    let mut text = "<dl class=\"facts\">\n".to_owned();
    for (word, is) in facts.iter().filter(|(_, is)| !is.is_empty()) {
        text += &format!("<div><dt>{}</dt><dd>{is}</dd></div>\n", html_escape(word));
    }
    text + "</dl>\n"
}

/// A timestamp that does not wrap.
pub fn time_span(at: Timestamp) -> String {
    format!("<span class=\"when\">{}</span>", format_time(at))
}

/// A note in small print. The text is escaped here.
pub fn note(text: &str) -> String {
    format!("<p class=\"note\">{}</p>\n", html_escape(text))
}

/// The title of a column.
#[derive(Clone, Copy, Debug)]
pub struct ColumnTitle<'t> {
    /// Text of the title.
    pub text: &'t str,
    /// CSS class of the cells: `n` for numbers (right-aligned), `w` for sentences (may wrap), empty for text that does not wrap.
    pub class: &'static str,
}

/// A column of text that does not wrap.
pub const fn text_column(text: &str) -> ColumnTitle<'_> {
    ColumnTitle { text, class: "" }
}

/// A column of sentences.
pub const fn prose_column(text: &str) -> ColumnTitle<'_> {
    ColumnTitle { text, class: "w" }
}

/// A column of numbers.
pub const fn number_column(text: &str) -> ColumnTitle<'_> {
    ColumnTitle { text, class: "n" }
}

/// A table whose cells are HTML. The cell at `row_header` names its row.
pub struct HtmlTable<'t> {
    /// Caption of the table, also for screen readers.
    pub caption: &'t str,
    /// Column titles, from left to right.
    pub titles: Vec<ColumnTitle<'t>>,
    /// Index of the cell that names the row.
    pub row_header: usize,
    /// Rows, from top to bottom.
    pub rows: Vec<Vec<String>>,
}

impl HtmlTable<'_> {
    /// The table as HTML, in a region that scrolls if the table is wider than the screen.
    pub fn html(&self) -> String {
        let class = |title: &ColumnTitle<'_>| match title.class {
            "" => String::new(),
            class => format!(" class=\"{class}\""),
        };
        let mut text = "<table>\n".to_owned();
        text += &format!("<caption>{}</caption>\n<thead>\n<tr>", html_escape(self.caption));
        for title in &self.titles {
            text += &format!("<th scope=\"col\"{}>{}</th>", class(title), html_escape(title.text));
        }
        text += "</tr>\n</thead>\n<tbody>\n";
        for row in &self.rows {
            text += "<tr>";
            for (at, (title, cell)) in self.titles.iter().zip(row).enumerate() {
                let class = class(title);
                text += &if at == self.row_header {
                    format!("<th scope=\"row\"{class}>{cell}</th>")
                } else {
                    format!("<td{class}>{cell}</td>")
                };
            }
            text += "</tr>\n";
        }
        scroll_region(self.caption, &(text + "</tbody>\n</table>\n"))
    }
}

/// A region that scrolls horizontally, also by keyboard.
pub fn scroll_region(label: &str, inner: &str) -> String {
    format!(
        "<div class=\"scroll\" role=\"region\" aria-label=\"{}\" tabindex=\"0\">\n{inner}</div>\n",
        html_escape(label)
    )
}

/// A page of the report.
pub struct Page<'p> {
    /// The report.
    pub report: &'p Report,
    /// Path of the page inside the report. Links are relative to it.
    pub path: &'p str,
    /// Heading.
    pub title: String,
    /// Breadcrumbs above the heading, as HTML.
    pub above: String,
    /// Content below the heading, as HTML.
    pub body: String,
    /// Script and style sheet of the replay viewer, for a page that plays a film.
    pub viewer: Option<Viewer<'p>>,
}

/// The files of the replay viewer, at the root of the report.
#[derive(Clone, Copy, Debug)]
pub struct Viewer<'v> {
    /// Name of the script.
    pub script: &'v str,
    /// Name of the style sheet.
    pub style: &'v str,
}

/// Relative path from a page to the root of the report.
pub fn path_to_root(path: &str) -> &'static str {
    if path.contains('/') { "../" } else { "" }
}

impl Page<'_> {
    /// The whole page. Its Content-Security-Policy allows only files of the report: `file:` for pages from disk, `'self'` for a server.
    pub fn html(&self) -> String {
        let root = path_to_root(self.path);
        let title = html_escape(&self.title);
        let site = if self.title == self.report.name {
            String::new()
        } else {
            format!(" - {}", html_escape(&self.report.name))
        };
        let (mut script_rule, mut head, mut foot) = ("", String::new(), String::new());
        if let Some(viewer) = &self.viewer {
            script_rule = " script-src 'self' file:;";
            head = format!("<link rel=\"stylesheet\" href=\"{root}{}\">\n", viewer.style);
            foot = format!("<script src=\"{root}{}\"></script>\n", viewer.script);
        }
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';{script_rule} \
             style-src 'self' file: 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
             <title>{title}{site}</title>\n<link rel=\"icon\" href=\"data:,\">\n\
             <link rel=\"stylesheet\" href=\"{root}{STYLE_FILE}\">\n{head}</head>\n<body>\n\
             <a class=\"skip\" href=\"#main\">Skip to content</a>\n{}<main id=\"main\">\n{}<h1>{}</h1>\n{}</main>\n\
             <footer>\n<p>Written by Agon on {}.</p>\n</footer>\n{foot}</body>\n</html>\n",
            self.navigation(),
            self.above,
            bidi_isolate(&self.title),
            self.body,
            format_time(self.report.written),
        )
    }

    /// Navigation links to the main pages. The current page is marked.
    fn navigation(&self) -> String {
        let root = path_to_root(self.path);
        let mut list = vec![("summary.html".to_owned(), "Summary".to_owned())];
        for phase in self.report.phases.iter().filter(|phase| phase.has_started()) {
            list.push((phase.file(), phase.name.clone()));
        }
        let mut text = "<header>\n<nav aria-label=\"Report\">\n<ul>\n".to_owned();
        for (file, name) in list {
            let current = if file == self.path { " aria-current=\"page\"" } else { "" };
            text += &format!("<li><a href=\"{root}{file}\"{current}>{}</a></li>\n", bidi_isolate(&name));
        }
        text + "</ul>\n</nav>\n</header>\n"
    }
}
