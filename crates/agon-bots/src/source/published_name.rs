//! The name of the published history in a bot's folder. It belongs to the organiser, and an author's file is never replaced.

use std::path::Path;

use agon_core::{GameInfo, PUBLISHED_HISTORY};

use super::BotRejection;

/// Rejects a bot that has a file of the name under which the game publishes its history.
pub fn check_published_name(info: &GameInfo, folder: &Path) -> Result<(), BotRejection> {
    let taken = info.competition.publishes_history && is_taken(folder, PUBLISHED_HISTORY);
    if taken { Err(name_is_taken(PUBLISHED_HISTORY)) } else { Ok(()) }
}

/// Whether the folder has an entry of this name, even a link that leads nowhere.
pub(crate) fn is_taken(folder: &Path, name: &str) -> bool {
    folder.join(name).symlink_metadata().is_ok()
}

/// The rejection of a bot whose own file has the name of a file that the organiser adds.
pub(crate) fn name_is_taken(name: &str) -> BotRejection {
    BotRejection::new(
        "the bot has a file of this name, which belongs to the organiser: the results of earlier phases are published under it",
        format!("rename the file {name} and the import of it, or remove the file"),
    )
    .in_file(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_file_under_the_published_name_is_rejected_only_where_a_history_is_published() {
        let folder = tempfile::tempdir().unwrap();
        let publishing: Vec<&GameInfo> =
            agon_games::infos().into_iter().filter(|info| info.competition.publishes_history).collect();
        assert!(!publishing.is_empty());
        for info in &publishing {
            assert_eq!(check_published_name(info, folder.path()), Ok(()));
        }
        std::fs::write(folder.path().join(PUBLISHED_HISTORY), "{}").unwrap();
        for info in agon_games::infos() {
            let checked = check_published_name(info, folder.path());
            assert_eq!(checked.is_err(), info.competition.publishes_history, "{}", info.id);
        }
        let rejection = check_published_name(publishing[0], folder.path()).unwrap_err();
        assert_eq!(rejection.file.as_deref(), Some(PUBLISHED_HISTORY));
        assert!(rejection.hint.contains("rename"), "{rejection}");
    }
}
