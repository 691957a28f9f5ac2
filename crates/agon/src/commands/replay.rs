//! `agon replay RECORD`: shows recorded games, or checks them against the rules.

use std::path::Path;

use agon_bots::Diagnostic;
use agon_core::record::{Digest, Record};
use agon_core::text_format::plural;
use agon_core::{GameInfo, MeterKind, Seat};
use agon_engine::Film;
use agon_engine::film::json::FilmExtras;
use serde_json::{Value as Json, json};

use super::replay_pictures;
use crate::args::Replay;
use crate::output_file::OutputFile;
use crate::record_files::{self, digest_of};
use crate::{errors, output, setup, watch};

/// Shows or checks the games.
pub fn run(args: &Replay) -> Result<(), Diagnostic> {
    let records = record_files::read(&args.record)?;
    let digests: Vec<Digest> = records.iter().map(|record| record.digest).collect();
    let count = records.len();
    let chosen: Vec<(usize, Record)> = match args.game {
        None => records.into_iter().enumerate().collect(),
        Some(k) => {
            let pick = records.into_iter().enumerate().nth(k.wrapping_sub(1));
            let what =
                format!("--game: game {k} does not exist; {} contains {count} games", args.record.display());
            vec![pick.ok_or_else(|| Diagnostic::wrong_use(what, format!("use a number from 1 to {count}")))?]
        }
    };
    // A file may contain different games. Consecutive films of one game are watched together.
    let mut films = Vec::new();
    for (i, record) in chosen {
        let table = agon_engine::any_game(&record.header.game)?;
        let (_, assets) = setup::settings(table.info(), &args.settings)?;
        let film = table.film(record, &assets).map_err(|e| errors::replay(&args.record, i + 1, e))?;
        films.push((i + 1, table.info(), film));
    }
    if args.json {
        let games: Vec<Json> =
            films.iter().map(|(i, _, film)| game_json(*i, film.as_ref(), args.frames)).collect();
        return output::print_json(
            "replay",
            json!({"verified": true, "digest": digest_of(&digests), "games": games}),
        );
    }
    if args.watch {
        let Some((_, info, _)) = films.first() else { return Ok(()) };
        let info = *info;
        let films: Vec<_> = films.into_iter().map(|(_, _, film)| film).collect();
        return watch::watch(info, &films, args.every, args.numbers);
    }
    if replay_pictures::is_wanted(args) {
        return replay_pictures::write(args, &films);
    }
    if args.seat.is_some() || args.width.is_some() {
        let option = if args.seat.is_some() { "--seat" } else { "--width" };
        return Err(Diagnostic::wrong_use(
            format!("{option} is for pictures only"),
            "add --png FILE or --gif FILE",
        ));
    }
    if let Some(path) = &args.html {
        return write_page(path, &films);
    }
    let text = if args.verify {
        let turns: usize = films.iter().map(|(_, _, film)| film.len() - 1).sum();
        let games = plural(films.len(), "game", "games");
        format!("verified: {games}, {turns} turns, every answer and result follows from the rules\n")
    } else {
        output::table(
            &["> Game", "Kind", ">Seed", ">Turns", "Result", "Ended"],
            films.iter().map(row).collect(),
        )
    };
    let digest = digest_of(&digests).map_or_else(String::new, |digest| format!("digest: {digest}\n"));
    output::print(&(text + &scales(&films) + &meters(&films) + &digest))
}

/// Lists games with scaled time limits, and their factors.
fn scales(films: &[(usize, &GameInfo, Box<dyn Film>)]) -> String {
    let line = |(number, _, film): &(usize, &GameInfo, Box<dyn Film>)| {
        let scale = film.record().clock_scale?;
        Some(format!("game {number}: time limits were scaled by {scale}, because of the machine's speed\n"))
    };
    films.iter().filter_map(line).collect()
}

/// Lists bots whose CPU time was not measured by a cgroup, the only meter that counts every process.
fn meters(films: &[(usize, &GameInfo, Box<dyn Film>)]) -> String {
    let line = |(number, _, film): &(usize, &GameInfo, Box<dyn Film>)| {
        let record = film.record();
        let weak = record.header.seats.iter().zip(&record.meters).filter_map(|(seat, meter)| {
            let meter = meter.filter(|&meter| meter != MeterKind::Cgroup)?;
            Some(format!("{} ({meter})", seat.name))
        });
        let weak: Vec<String> = weak.collect();
        (!weak.is_empty())
            .then(|| format!("game {number}: CPU time measured without a cgroup: {}\n", weak.join(", ")))
    };
    films.iter().filter_map(line).collect()
}

/// Writes one game as a page.
fn write_page(path: &Path, films: &[(usize, &GameInfo, Box<dyn Film>)]) -> Result<(), Diagnostic> {
    let [(_, info, film)] = films else {
        let what = format!("--html: the file contains {} games", films.len());
        return Err(Diagnostic::wrong_use(what, "choose one with --game K"));
    };
    let film = agon_engine::film::json::to_json(info, film.as_ref(), &FilmExtras::default());
    OutputFile::write(path, "the page", agon_web::replay_page(&film).as_bytes())?;
    output::print(&format!("page: {}\n", path.display()))
}

fn row((number, info, film): &(usize, &GameInfo, Box<dyn Film>)) -> Vec<String> {
    let record = film.record();
    let result: Vec<String> = Seat::all(record.header.seats.len())
        .zip(&record.header.seats)
        .filter_map(|(seat, who)| {
            let outcome = record.outcome.seats.get(seat.index())?;
            Some(format!("{} {}", who.name, (outcome.score * 1000.0).round() / 1000.0))
        })
        .collect();
    vec![
        number.to_string(),
        info.id.to_owned(),
        record.header.seed.to_string(),
        record.turns.len().to_string(),
        result.join(", "),
        record.outcome.ended.to_string(),
    ]
}

fn game_json(number: usize, film: &dyn Film, frames: bool) -> Json {
    let record = film.record();
    let times: Vec<Json> = record
        .times
        .iter()
        .map(|times| {
            let of = |pick: fn(&agon_core::AnswerTimes) -> std::time::Duration| {
                times.iter().map(|t| output::micros(pick(t))).collect::<Vec<_>>()
            };
            json!({"wall_us": of(|t| t.wall), "cpu_us": of(|t| t.cpu), "wait_us": of(|t| t.wait)})
        })
        .collect();
    let mut game = json!({
        "number": number,
        "header": record.header,
        "turns": record.turns,
        "faults": record.faults,
        "expired": record.expired,
        "outcome": record.outcome,
        "times": times,
        "digest": record.digest,
    });
    if record.meters.iter().any(Option::is_some) {
        game["meters"] = json!(record.meters);
    }
    if let Some(scale) = record.clock_scale {
        game["clock_scale"] = json!(scale);
    }
    if frames {
        let (first, deltas) = film.frames();
        game["frames"] = json!({"first": first, "deltas": deltas});
    }
    game
}
