//! Each game's own competition, as its document describes it.

const FILES: [(&str, &str); 5] = [
    ("solitude-scramble", include_str!("own/solitude-scramble.toml")),
    ("colour-battle", include_str!("own/colour-battle.toml")),
    ("connect-five", include_str!("own/connect-five.toml")),
    ("hide-and-seek", include_str!("own/hide-and-seek.toml")),
    ("word-racer", include_str!("own/word-racer.toml")),
];

/// The text of a game's own competition, to be read, run and edited. In it, `FILE` stands for the file's name.
pub fn preset(game: &str) -> Option<&'static str> {
    FILES.iter().find(|(id, _)| *id == game).map(|(_, text)| *text)
}
