//! `agon submit`: the HTTP client for a server, and the files to send.

pub mod client;
pub mod files;
