//! `agon serve` and `agon submit`: arguments, and the HTTP client for a server.

pub mod cli;
pub mod client;
pub mod files;
