//! Agon's place on the web: live tables, replays, uploads, an organiser's desk.
//!
//! Everything the pages use is an API of its own (`/api/v1`), described by OpenAPI. [`error`] is what refusals look like, [`caller`] who
//! asks, [`paging`] how lists come.

pub mod caller;
pub mod config;
pub mod error;
pub mod paging;
