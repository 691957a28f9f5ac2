//! Seeds that are derived from the secret seed of a competition. The SHA-256 of the secret is published before the first game, and the
//! secret itself after the last one. So the organiser cannot choose seeds to favour a bot, and entrants cannot know them in advance.

use std::fs::File;
use std::io::{self, Read as _};

use agon_store::SecretSeed;
use sha2::{Digest as _, Sha256};

/// Generates a new secret seed: 256 bits from the operating system.
pub fn generate_secret() -> io::Result<SecretSeed> {
    let mut bytes = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let mut text = String::with_capacity(64);
    for byte in bytes {
        text += &format!("{byte:02x}");
    }
    Ok(SecretSeed::new(text))
}

/// Seed of all matches of a phase with this seed index.
pub fn game_seed(secret: &SecretSeed, phase: u32, seed_index: u64) -> u64 {
    derive(secret, "board", phase, seed_index)
}

/// Seed of a phase's schedule.
pub fn schedule_seed(secret: &SecretSeed, phase: u32) -> u64 {
    derive(secret, "schedule", phase, 0)
}

fn derive(secret: &SecretSeed, purpose: &str, phase: u32, number: u64) -> u64 {
    let mut hash = Sha256::new();
    hash.update(b"agon seed 1\0");
    hash.update(secret.expose().as_bytes());
    hash.update([0]);
    hash.update(purpose.as_bytes());
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
    fn seeds_depend_only_on_secret_phase_and_number() {
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
    fn generated_secret_has_256_random_bits() {
        let secret = generate_secret().unwrap();
        assert_eq!(secret.expose().len(), 64);
        assert_ne!(secret, generate_secret().unwrap());
    }
}
