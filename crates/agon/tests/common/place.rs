//! Test folders: one for the bots, and one for Agon's temporary files, which must be empty after each run.

use std::fs;
use std::io::{Cursor, Write as _};
use std::path::PathBuf;
use std::process::Output;

use tempfile::{TempDir, tempdir_in};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::{agon, good};

/// Folders of a test: `bots/` for the bots, `tmp/` for Agon's temporary files.
pub struct Place {
    pub folder: TempDir,
}

impl Place {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        fs::create_dir(folder.path().join("tmp")).unwrap();
        fs::create_dir(folder.path().join("bots")).unwrap();
        let place = Self { folder };
        for (name, text) in files {
            place.write(name, text);
        }
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("bots").join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn zip(&self, name: &str, files: &[(&str, &str)]) {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, text) in files {
            writer.start_file(*name, SimpleFileOptions::default()).unwrap();
            writer.write_all(text.as_bytes()).unwrap();
        }
        fs::write(self.path(name), writer.finish().unwrap().into_inner()).unwrap();
    }

    pub fn tmp(&self) -> PathBuf {
        self.folder.path().join("tmp")
    }

    /// Agon's temporary files.
    pub fn left(&self) -> Vec<PathBuf> {
        fs::read_dir(self.tmp()).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        let output = agon(&self.path(""), arguments)
            .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
            .env("TMPDIR", self.tmp())
            .output()
            .unwrap();
        assert_eq!(self.left(), [""; 0].map(PathBuf::from), "{arguments:?} leaves temporary files");
        output
    }

    /// Stdout of a run that must succeed.
    pub fn good(&self, arguments: &[&str]) -> String {
        good(&self.run(arguments))
    }

    /// Error message of a command that is rejected before any game.
    pub fn refused(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        assert!(output.stdout.is_empty(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    pub fn five(&self, bot: &str) -> String {
        self.refused(&["play", "connect-five", bot, "house:random"])
    }

    pub fn racer(&self, bot: &str) -> String {
        self.refused(&["play", "word-racer", bot, "house:random"])
    }
}

/// Always plays the leftmost free column.
const PLAYER: &str = "class NAME:\n    def get_move(self, board, player, T, N):\n        return next(c for c in range(9) if board[0][c] == 0)\n";

pub fn player(name: &str) -> String {
    PLAYER.replace("NAME", name)
}

/// A Word Racer bot that keeps playing only if this condition on `words.dat` holds.
pub fn reader(words: &str) -> String {
    format!(
        "import sys\nwords = open('words.dat').read().split('\\n')\nassert words[-1] == '' and {words}, words[:3]\n\
         letter, mine = input(), input() == '1'\nfree = [p for p in range(49) if p != 24]\n\
         for turn in range(48):\n    \
         if mine:\n        print('E', free.pop(0), flush=True)\n    \
         else:\n        input()\n        print(free.pop(0), flush=True)\n    mine = not mine\n"
    )
}
