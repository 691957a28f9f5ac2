//! What other sites show of a page: pictures, GIFs, titles and descriptions for previews of links, and embedded replays.

pub mod cards;
pub mod game_pictures;
pub mod page_html;
pub mod page_tags;
pub mod picture_service;

pub use picture_service::{PictureKind, PictureService};
