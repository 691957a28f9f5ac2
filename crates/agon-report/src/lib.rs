//! Renders a competition as static pages that open from disk. The input is plain data and the output is HTML and SVG. This crate reads no
//! files and no ledger. The only script is that of the replay viewer.
//!
//! [`data`] defines the content of a report. [`pages`] renders the pages from it, with the help of [`charts`], [`bracket`], [`matrix`],
//! [`tables`] and [`lists`]. [`scale`] computes the scales of all charts, for the web app too. All text from users and bots (names, notes, messages) is escaped by [`html::escaped`].

pub mod bracket;
pub mod charts;
pub mod data;
pub mod html;
pub mod lists;
pub mod matrix;
pub mod pages;
pub mod scale;
pub mod tables;
pub mod text_format;

#[cfg(test)]
mod tests;

pub use data::Report;

/// The style sheet of all pages.
pub const STYLE: &str = include_str!("style.css");
/// File name of the style sheet.
pub const STYLE_FILE: &str = "style.css";
