//! `agon trial ... --profile` for a Python script that speaks the game's text protocol. Each game has a process of its own.

use std::collections::BTreeMap;
use std::time::Instant;

use agon_core::Seat;
use agon_engine::Film;
use agon_engine::debug_replay::bot_seed;
use agon_host::Program;
use agon_host::interactive::InteractiveBot;
use serde_json::{Value as Json, json};

use super::profile::{PROFILE_TIMEOUT, fetch, source_folder};

/// Line that asks for a piece of the profile.
const PROFILE_REQUEST: &str = "\0profile\n";

/// Replays the games with a profiler. Returns the profile and how often all games were replayed. Of functions, the profile of the first
/// game is used.
pub fn replay_games(
    program: &Program,
    films: &[Box<dyn Film>],
    seat: Seat,
    rounds: usize,
) -> Result<(Json, f64), String> {
    let until = Instant::now() + PROFILE_TIMEOUT;
    let mut profiles = Vec::new();
    for film in films.iter().cycle().take(films.len() * rounds.max(1)) {
        if !profiles.is_empty() && Instant::now() > until {
            break;
        }
        profiles.push(replay_game(program, film.as_ref(), seat)?);
        if profiles[0].get("stats").is_some() {
            break;
        }
    }
    let played = profiles.len() as f64 / films.len().max(1) as f64;
    Ok((merged(&profiles), played))
}

fn replay_game(program: &Program, film: &dyn Film, seat: Seat) -> Result<Json, String> {
    let environment = [
        ("AGON_SEED", bot_seed(film.record(), seat).to_string()),
        ("AGON_GAME", film.record().header.game.clone()),
        ("AGON_BOT_SOURCE", source_of_script(program)),
    ];
    let mut talk = InteractiveBot::start_sandboxed(program, &environment).map_err(|e| e.to_string())?;
    for request in film.requests(seat) {
        talk.text_turn(&film.observation(request.turn, seat).text.unwrap_or_default())?;
    }
    fetch(|| {
        let piece = talk.text_turn(PROFILE_REQUEST)?;
        serde_json::from_str(&piece).map_err(|_| format!("not a piece of a profile: {piece}"))
    })
}

/// Folder in which the author has the script. The package of the profiler was added after it.
fn source_of_script(program: &Program) -> String {
    let mut bot = program.clone();
    bot.readable_dirs.pop();
    source_folder(&bot)
}

/// The sum of the times of each line.
fn merged(profiles: &[Json]) -> Json {
    let Some(first) = profiles.first().filter(|first| first.get("stats").is_some() || profiles.len() == 1)
    else {
        let mut lines: BTreeMap<(String, u64), (String, f64)> = BTreeMap::new();
        for line in profiles.iter().flat_map(|profile| profile["lines"].as_array().into_iter().flatten()) {
            let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
            let key = (text("file"), line["line"].as_u64().unwrap_or_default());
            lines.entry(key).or_insert_with(|| (text("text"), 0.0)).1 +=
                line["seconds"].as_f64().unwrap_or_default();
        }
        let mut lines: Vec<_> = lines.into_iter().collect();
        lines.sort_by(|(_, (_, a)), (_, (_, b))| b.total_cmp(a));
        let line = |((file, line), (text, seconds)): &((String, u64), (String, f64))| json!({"file": file, "line": line, "text": text, "seconds": seconds});
        let seconds: f64 = profiles.iter().filter_map(|profile| profile["seconds"].as_f64()).sum();
        return json!({"seconds": seconds, "lines": lines.iter().map(line).collect::<Vec<_>>()});
    };
    first.clone()
}
