//! Parses common options: seed, settings, number of parallel games.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::path::Path;

use agon_core::settings::SettingKind;
use agon_core::{Assets, GameInfo, Settings};

use crate::error::Diagnostic;

/// Parses a seed, or draws one.
pub fn seed(text: Option<&str>) -> Result<u64, Diagnostic> {
    let Some(text) = text else {
        return Ok(RandomState::new().build_hasher().finish() >> 32);
    };
    text.parse().map_err(|_| {
        Diagnostic::wrong_use(
            format!("--seed: `{text}` is not a seed"),
            "use a whole number from 0 to 18446744073709551615",
        )
    })
}

/// Parses `key=value` pairs into a game's settings, and reads the files that they name, relative to `folder`.
pub fn settings(info: &GameInfo, pairs: &[String], folder: &Path) -> Result<(Settings, Assets), Diagnostic> {
    let mut assets = Assets::none();
    let mut texts = Vec::new();
    for pair in pairs {
        let Some((name, text)) = pair.split_once('=') else {
            return Err(Diagnostic::wrong_use(
                format!("--set: `{pair}` has no `=`"),
                "write it as key=value",
            ));
        };
        let is_asset = info.settings.iter().any(|spec| spec.name == name && spec.kind == SettingKind::Asset);
        if is_asset && text != "built-in" {
            let path = Path::new(text);
            let content = std::fs::read(folder.join(path)).map_err(|e| {
                Diagnostic::named_path("read", path, &e, "check that the file exists and is readable")
            })?;
            texts.push((name, assets.insert(content)));
        } else {
            texts.push((name, text.to_owned()));
        }
    }
    let settings = Settings::parse(info.settings, texts.iter().map(|(name, text)| (*name, text.as_str())))?;
    Ok((settings, assets))
}

/// Number of parallel games; the default is the number of CPU cores.
pub fn jobs(wanted: Option<usize>) -> Result<usize, Diagnostic> {
    match wanted {
        Some(0) => Err(Diagnostic::wrong_use("--jobs must be at least 1", "omit it to use every core")),
        Some(n) => Ok(n.min(256)),
        None => Ok(std::thread::available_parallelism().map_or(1, usize::from)),
    }
}
