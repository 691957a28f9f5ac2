//! Writes all kinds of pictures into a folder, to be looked at: `cargo run -p agon-pictures --example all_pictures -- DIR`.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a tool for developers")]

#[path = "../tests/common/mod.rs"]
mod common;

fn main() {
    let folder = std::path::PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "pictures".to_owned()));
    std::fs::create_dir_all(&folder).unwrap();
    let games = agon_games::infos().into_iter().flat_map(|info| common::pictures(info.id));
    for (name, bytes) in games.chain(common::cards()) {
        println!("{} ({} bytes)", folder.join(&name).display(), bytes.len());
        std::fs::write(folder.join(name), bytes).unwrap();
    }
}
