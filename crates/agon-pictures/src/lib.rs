//! Pictures of games and tables: a [`agon_core::Drawing`] as PNG, games as GIF, and cards for previews of links.
//!
//! [`canvas`] paints shapes and texts into pixels, [`render`] draws a position, [`scene`] puts a position, its players and the
//! course of the game into one picture, [`clip`] makes a GIF of many, and [`card`] makes the pictures of link previews. The
//! output depends only on the input: no clock, no locale, no fonts of the machine.

pub mod animation;
pub mod canvas;
pub mod card;
pub mod clip;
pub mod fonts;
pub mod game;
pub mod identicon;
pub mod palette;
pub mod render;
pub mod scene;
pub mod theme;

pub use game::GamePictures;
pub use scene::{Scene, ScenePlayer};
pub use theme::Theme;

/// Reason why a picture cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// The picture has no pixels or too many.
    #[error("a picture of {width} x {height} pixels cannot be made")]
    Size {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
    },
    /// The GIF would be larger than allowed.
    #[error("the GIF is larger than {most} bytes")]
    TooLarge {
        /// Maximum in bytes.
        most: usize,
    },
    /// Making the picture took too long.
    #[error("the picture was not finished in time")]
    TooSlow,
    /// Writing the file format failed.
    #[error("the picture cannot be encoded: {0}")]
    Encoding(String),
}
