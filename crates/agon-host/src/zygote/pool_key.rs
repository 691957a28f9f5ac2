//! Key of a pooled bot: a hash of everything that the bot is.

use std::fmt;
use std::path::Path;

use agon_core::record::Digest;
use sha2::{Digest as _, Sha256};

use super::forked_bot::PausePolicy;
use crate::program::{Program, ZygoteOptions};
use crate::sandbox::Writable;

/// Key of a bot in the pool: the SHA-256 of its program, its zygote's options and the role it was loaded for. Bots with the same key are
/// interchangeable. What differs from game to game, such as the seed, is not part of the key: a pooled bot gets it with the next game.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct BotPoolKey([u8; 32]);

impl BotPoolKey {
    /// Key of a program that was loaded for a role.
    pub fn new(program: &Program, role: &str) -> Self {
        let mut encoder = KeyEncoder(Sha256::new());
        encoder.text(role);
        encoder.program(program);
        Self(encoder.0.finalize().into())
    }
}

impl fmt::Debug for BotPoolKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BotPoolKey({})", Digest(self.0))
    }
}

/// Encodes fields so that different values give different bytes: each text with its length, each list with its number of elements, each
/// optional value with a flag. The functions name all fields of a type, so that a new field cannot be forgotten.
struct KeyEncoder(Sha256);

impl KeyEncoder {
    fn program(&mut self, program: &Program) {
        let Program {
            words,
            folder,
            environment,
            readable_dirs,
            writable,
            hidden,
            bot_files,
            private,
            sandboxed,
            threads_only,
            zygote,
        } = program;
        self.list(words, |encoder, word| encoder.text(word));
        self.path(folder);
        self.pairs(environment);
        self.list(readable_dirs, |encoder, path| encoder.path(path));
        self.list(writable, Self::writable);
        self.list(hidden, |encoder, path| encoder.path(path));
        self.list(bot_files, |encoder, path| encoder.path(path));
        self.list(private.as_slice(), |encoder, path| encoder.path(path));
        self.flag(*sandboxed);
        self.flag(*threads_only);
        self.list(zygote.as_slice(), Self::zygote);
    }

    fn writable(&mut self, writable: &Writable) {
        let Writable { path, bytes, kept } = writable;
        self.path(path);
        self.number(*bytes);
        self.flag(*kept);
    }

    fn zygote(&mut self, zygote: &ZygoteOptions) {
        let ZygoteOptions {
            game,
            target,
            arguments,
            environment,
            forks_calls,
            forks_games,
            asked_together,
            hold,
        } = zygote;
        self.text(game);
        self.text(target);
        self.list(arguments, |encoder, argument| encoder.text(argument));
        self.pairs(environment);
        self.flag(*forks_calls);
        self.flag(*forks_games);
        self.flag(*asked_together);
        self.number(match hold {
            PausePolicy::Never => 0,
            PausePolicy::IfBusy => 1,
        });
    }

    fn pairs(&mut self, pairs: &[(String, String)]) {
        self.list(pairs, |encoder, (name, value)| {
            encoder.text(name);
            encoder.text(value);
        });
    }

    fn list<T>(&mut self, items: &[T], encode: impl Fn(&mut Self, &T)) {
        self.number(items.len() as u64);
        for item in items {
            encode(self, item);
        }
    }

    fn path(&mut self, path: &Path) {
        self.bytes(path.as_os_str().as_encoded_bytes());
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.update(bytes);
    }

    fn flag(&mut self, flag: bool) {
        self.number(u64::from(flag));
    }

    fn number(&mut self, number: u64) {
        self.0.update(number.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn program() -> Program {
        let zygote = ZygoteOptions {
            game: "game".to_owned(),
            target: "/bots/bot.py".to_owned(),
            arguments: vec!["-u".to_owned()],
            environment: vec![("A".to_owned(), "b".to_owned())],
            forks_calls: false,
            forks_games: false,
            asked_together: false,
            hold: PausePolicy::Never,
        };
        Program {
            environment: vec![("NAME".to_owned(), "value".to_owned())],
            readable_dirs: vec!["/lib".into()],
            writable: vec![Writable { path: "/data".into(), bytes: 1, kept: false }],
            hidden: vec!["/bots/other.py".into()],
            bot_files: vec!["/bots/bot.py".into()],
            private: Some("/private".into()),
            zygote: Some(zygote),
            ..Program::new(["python3", "bot.py"], "/bots")
        }
    }

    fn changed(change: impl FnOnce(&mut Program)) -> BotPoolKey {
        let mut program = program();
        change(&mut program);
        BotPoolKey::new(&program, "player")
    }

    fn changed_writable(change: impl FnOnce(&mut Writable)) -> BotPoolKey {
        changed(|program| change(&mut program.writable[0]))
    }

    fn changed_zygote(change: impl FnOnce(&mut ZygoteOptions)) -> BotPoolKey {
        changed(|program| change(program.zygote.as_mut().unwrap()))
    }

    #[test]
    fn equal_bots_have_equal_keys() {
        assert_eq!(BotPoolKey::new(&program(), "player"), BotPoolKey::new(&program().clone(), "player"));
    }

    #[test]
    fn every_changed_field_gives_another_key() {
        let other = || "other".to_owned();
        let keys = [
            changed(|_| {}),
            BotPoolKey::new(&program(), "other"),
            changed(|program| program.words[0] = other()),
            changed(|program| program.words[1] = other()),
            changed(|program| program.words.truncate(1)),
            changed(|program| program.folder = "/other".into()),
            changed(|program| program.environment[0].0 = other()),
            changed(|program| program.environment[0].1 = other()),
            changed(|program| program.readable_dirs = vec!["/other".into()]),
            changed(|program| program.writable.clear()),
            changed_writable(|writable| writable.path = "/other".into()),
            changed_writable(|writable| writable.bytes = 2),
            changed_writable(|writable| writable.kept = true),
            changed(|program| program.hidden = vec!["/other".into()]),
            changed(|program| program.bot_files = vec!["/other".into()]),
            changed(|program| program.threads_only = true),
            changed(|program| program.private = None),
            changed(|program| program.private = Some("/other".into())),
            changed(|program| program.sandboxed = true),
            changed(|program| program.zygote = None),
            changed_zygote(|zygote| zygote.game = other()),
            changed_zygote(|zygote| zygote.target = other()),
            changed_zygote(|zygote| zygote.arguments = vec![other()]),
            changed_zygote(|zygote| zygote.environment[0].0 = other()),
            changed_zygote(|zygote| zygote.environment[0].1 = other()),
            changed_zygote(|zygote| zygote.forks_calls = true),
            changed_zygote(|zygote| zygote.forks_games = true),
            changed_zygote(|zygote| zygote.asked_together = true),
            changed_zygote(|zygote| zygote.hold = PausePolicy::IfBusy),
        ];
        let different: HashSet<BotPoolKey> = keys.into_iter().collect();
        assert_eq!(different.len(), keys.len());
    }

    #[test]
    fn text_moved_between_fields_gives_another_key() {
        let words =
            |words: &[&str]| changed(|program| program.words = words.iter().map(|&w| w.into()).collect());
        assert_ne!(words(&["ab", "c"]), words(&["a", "bc"]));
        assert_ne!(words(&["a", "b"]), words(&["a b"]));
        let moved = changed(|program| program.hidden.append(&mut program.readable_dirs));
        let moved_back = changed(|program| program.readable_dirs.append(&mut program.hidden));
        assert_ne!(moved, moved_back);
    }
}
