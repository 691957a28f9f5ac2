//! A competition as static pages that open from disk: pure HTML and SVG from plain data. No files, no ledger, no script but the
//! replay viewer's.
//!
//! [`data`] is what the pages are about; [`pages`] makes each of them from it; [`charts`], [`bracket`], [`matrix`], [`tables`] and [`lists`] are
//! what they are made of. Everything that somebody else wrote (names, notes, bots' words) goes through [`html::escaped`].

pub mod bracket;
pub mod charts;
pub mod data;
pub mod html;
pub mod lists;
pub mod matrix;
pub mod pages;
pub mod tables;
pub mod text_format;

#[cfg(test)]
mod tests;

pub use data::Report;

/// The one style sheet of all pages.
pub const STYLE: &str = include_str!("style.css");
/// Its name.
pub const STYLE_FILE: &str = "style.css";
