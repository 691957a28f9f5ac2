//! Preset competition file of each game, as the game's document describes it.

/// Text of a game's preset, to be read, run and edited. `FILE` in it stands for the file's name. `None` if there is no such game.
pub fn preset(game: &str) -> Option<&'static str> {
    agon_games::game_info(game).ok().map(|info| info.competition.preset)
}
