//! From words to a game: seed, settings, how many games at once.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::path::Path;

use agon_core::settings::SettingKind;
use agon_core::{Assets, GameInfo, Settings};

use crate::error::Failure;

/// Reads a seed; without one, draws it.
pub fn seed(text: Option<&str>) -> Result<u64, Failure> {
    let Some(text) = text else {
        return Ok(RandomState::new().build_hasher().finish() >> 32);
    };
    text.parse().map_err(|_| {
        Failure::wrong_use(
            format!("--seed: `{text}` is no seed"),
            "a whole number from 0 to 18446744073709551615",
        )
    })
}

/// Reads `key=value` pairs into a game's settings, and the files that some of them name, from `folder`.
pub fn settings(info: &GameInfo, pairs: &[String], folder: &Path) -> Result<(Settings, Assets), Failure> {
    let mut assets = Assets::none();
    let mut texts = Vec::new();
    for pair in pairs {
        let Some((name, text)) = pair.split_once('=') else {
            return Err(Failure::wrong_use(format!("--set: `{pair}` has no `=`"), "write it as key=value"));
        };
        let is_asset = info.settings.iter().any(|spec| spec.name == name && spec.kind == SettingKind::Asset);
        if is_asset && text != "built-in" {
            let path = Path::new(text);
            let content = std::fs::read(folder.join(path))
                .map_err(|e| Failure::io("read", path, &e, "is the path right, and may you read it?"))?;
            texts.push((name, assets.insert(content)));
        } else {
            texts.push((name, text.to_owned()));
        }
    }
    let settings = Settings::parse(info.settings, texts.iter().map(|(name, text)| (*name, text.as_str())))?;
    Ok((settings, assets))
}

/// How many games at once: one for each core unless said otherwise.
pub fn jobs(wanted: Option<usize>) -> Result<usize, Failure> {
    match wanted {
        Some(0) => Err(Failure::wrong_use("--jobs: at least one", "leave it out to use every core")),
        Some(n) => Ok(n.min(256)),
        None => Ok(std::thread::available_parallelism().map_or(1, usize::from)),
    }
}
