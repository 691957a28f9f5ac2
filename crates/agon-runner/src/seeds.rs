//! What is drawn from a competition's secret seed. Its SHA-256 is shown before the first game, the seed itself after the last:
//! nobody can have chosen boards to anybody's liking, and nobody knows them early.

use std::fs::File;
use std::io::{self, Read as _};

use agon_store::SecretSeed;
use sha2::{Digest as _, Sha256};

/// A new one, 256 bits from the system's source of chance.
pub fn draw() -> io::Result<SecretSeed> {
    let mut bytes = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let mut text = String::with_capacity(64);
    for byte in bytes {
        text += &format!("{byte:02x}");
    }
    Ok(SecretSeed::new(text))
}

/// The seed of every match of a phase that is played on this board.
pub fn game_seed(secret: &SecretSeed, phase: u32, board: u64) -> u64 {
    derive(secret, "board", phase, board)
}

/// What a phase's schedule is drawn from.
pub fn schedule_seed(secret: &SecretSeed, phase: u32) -> u64 {
    derive(secret, "schedule", phase, 0)
}

fn derive(secret: &SecretSeed, what: &str, phase: u32, number: u64) -> u64 {
    let mut hash = Sha256::new();
    hash.update(b"agon seed 1\0");
    hash.update(secret.expose().as_bytes());
    hash.update([0]);
    hash.update(what.as_bytes());
    hash.update(phase.to_le_bytes());
    hash.update(number.to_le_bytes());
    let mut first = [0; 8];
    first.copy_from_slice(&hash.finalize()[..8]);
    u64::from_le_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_follow_from_the_secret_and_from_nothing_else() {
        let (a, b) = (SecretSeed::new("a"), SecretSeed::new("b"));
        assert_eq!(game_seed(&a, 0, 7), game_seed(&a, 0, 7));
        let all = [
            game_seed(&a, 0, 7),
            game_seed(&a, 0, 8),
            game_seed(&a, 1, 7),
            game_seed(&b, 0, 7),
            schedule_seed(&a, 0),
            schedule_seed(&a, 1),
        ];
        assert_eq!(all.iter().collect::<std::collections::HashSet<_>>().len(), all.len());
    }

    #[test]
    fn a_drawn_secret_is_long() {
        let secret = draw().unwrap();
        assert_eq!(secret.expose().len(), 64);
        assert_ne!(secret, draw().unwrap());
    }
}
