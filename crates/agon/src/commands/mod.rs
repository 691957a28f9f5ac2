//! One file for each command.

pub mod bots;
pub mod check;
pub mod demo;
pub mod doctor;
pub mod games;
pub mod new;
pub mod play;
pub mod replay;
pub mod show;
