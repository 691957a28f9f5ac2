//! The commands, one file each.

mod bot_timings;
pub mod bots;
pub mod check;
pub mod compare;
pub mod debug;
pub mod demo;
pub mod doctor;
pub mod export;
pub mod games;
pub mod import;
pub mod init;
pub mod new;
mod pdb;
pub mod play;
mod play_tables;
mod profile;
pub mod replay;
pub mod report;
pub mod run;
pub mod serve;
pub mod show;
pub mod submit;
pub mod table;
pub mod trial;
pub mod update;
pub mod worker;
pub mod workers;
