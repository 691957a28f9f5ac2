//! What is published of a competition: static pages that open from disk, standings in five formats, and exports for other programs.
//!
//! [`write`] writes a report: [`collect`] reads its content from the ledger, with [`select_games`]; [`data`] defines the
//! content as plain data. [`pages`] renders the pages from it, with the help of [`charts`], [`bracket`], [`matrix`],
//! [`tables`] and [`lists`]. All text from users and bots (names, notes, messages) is escaped by [`html::html_escape`].
//! [`scale`] computes the scales of all charts, for the web app too. The only script is that of the replay viewer. [`table_formats`] writes standings, [`export`] files for other programs.

pub mod bracket;
pub mod charts;
pub mod collect;
pub mod data;
pub mod export;
mod folder;
pub mod html;
pub mod lists;
pub mod matrix;
pub mod pages;
pub mod scale;
pub mod select_games;
pub mod table_formats;
pub mod tables;
pub mod text_format;
pub mod write;

#[cfg(test)]
mod tests;

pub use data::Report;
pub use select_games::GameSelection;

/// The style sheet of all pages.
pub const STYLE: &str = include_str!("style.css");
/// File name of the style sheet.
pub const STYLE_FILE: &str = "style.css";
