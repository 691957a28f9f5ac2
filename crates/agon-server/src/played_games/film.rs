//! The film of a played game, with what its viewer may read.

use std::collections::BTreeSet;

use agon_core::record::read;
use agon_core::{Assets, Seat};
use agon_engine::film::json::{BotOutputLine, FilmExtras, to_json};
use agon_site_db::PlayedGameRow;

use crate::error::{ApiError, ApiResult};
use crate::read_model::encoded_json::EncodedJson;

/// What a film needs beside the record.
pub struct PlayedFilm {
    /// The game.
    pub game: PlayedGameRow,
    /// Files that replace the game's own.
    pub assets: Assets,
    /// Authors of the bots in seat order.
    pub contributors: Vec<Option<String>>,
    /// Output of all bots.
    pub output: Vec<BotOutputLine>,
    /// Seats whose private texts the viewer may read.
    pub own_seats: BTreeSet<u8>,
}

/// Renders the film. What bots wrote to their output and to stderr is left out for all seats but the viewer's.
pub fn render(film: PlayedFilm, bytes: &[u8], name: &str) -> ApiResult<EncodedJson> {
    let any_game = agon_engine::any_game(&film.game.game).map_err(ApiError::internal)?;
    let (mut record, _) = read(bytes, 1).map_err(ApiError::internal)?;
    for fault in &mut record.faults {
        if !film.own_seats.contains(&fault.seat.0) {
            fault.report.stderr.clear();
        }
    }
    let mut bot_output = film.output;
    bot_output.retain(|line| film.own_seats.contains(&line.seat.0));
    bot_output.sort_by_key(|line| line.turn);
    let seats = Seat::all(record.header.seats.len());
    let extras = FilmExtras {
        contributors: film.contributors,
        colours: seats.map(|seat| u32::from(seat.0)).collect(),
        bot_output,
        hide_seed: false,
        wins: Vec::new(),
    };
    // A game that was played with files which the competition has replaced since then cannot be shown any more.
    let shown = any_game.film(record, &film.assets).map_err(|error| {
        tracing::warn!(%error, game = %film.game, "a played game cannot be shown");
        ApiError::not_found("film").hint("the rules or the files of the competition have changed since then")
    })?;
    EncodedJson::gzip_only(&to_json(any_game.info(), shown.as_ref(), &extras), name)
}

/// Whether a record contains private text of a seat that is not the viewer's. Then the viewer gets the film only, because a record cannot
/// be changed without its digest.
pub fn has_private_text(bytes: &[u8], own_seats: &BTreeSet<u8>) -> ApiResult<bool> {
    let (record, _) = read(bytes, 1).map_err(ApiError::internal)?;
    Ok(record
        .faults
        .iter()
        .any(|fault| !fault.report.stderr.is_empty() && !own_seats.contains(&fault.seat.0)))
}
