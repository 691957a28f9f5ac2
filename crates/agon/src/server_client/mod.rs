//! The server from the command line, and what talks to one.

pub mod cli;
pub mod client;
pub mod files;
