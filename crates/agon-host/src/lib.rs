//! A running bot: any process, behind a sandbox, on a fair clock. Knows no game's rules.

pub mod sandbox;
