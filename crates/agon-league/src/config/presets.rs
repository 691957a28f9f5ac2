//! Preset competition file of each game, as the game's document describes it.

const PRESETS: [(&str, &str); 5] = [
    ("solitude-scramble", include_str!("presets/solitude-scramble.toml")),
    ("colour-battle", include_str!("presets/colour-battle.toml")),
    ("connect-five", include_str!("presets/connect-five.toml")),
    ("hide-and-seek", include_str!("presets/hide-and-seek.toml")),
    ("word-racer", include_str!("presets/word-racer.toml")),
];

/// Text of a game's preset, to be read, run and edited. `FILE` in it stands for the file's name.
pub fn preset(game: &str) -> Option<&'static str> {
    PRESETS.iter().find(|(id, _)| *id == game).map(|(_, text)| *text)
}
