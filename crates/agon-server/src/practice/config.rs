//! Settings of practice: the ladder, challenges, and what both may use of the machine.

use std::time::Duration;

use agon_site_db::OpenChallengeLimits;

/// Settings of practice.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PracticeConfig {
    /// Whether practice ladders are played. An organiser can switch off that of one competition.
    pub ladder: bool,
    /// Whether challenges are played.
    pub challenges: bool,
    /// Maximum number of parallel ladder games.
    pub ladder_cores: usize,
    /// Maximum number of challenges that are played at the same time.
    pub challenge_cores: usize,
    /// Share of the machine that challenges may use while competitions hold all cores.
    pub guest_share: f64,
    /// Time that one challenge may use at once while competitions hold all cores.
    pub guest_burst: Duration,
    /// A practice game is ended after this time, without a result.
    pub game_timeout: Duration,
    /// Maximum number of games of a challenge.
    pub max_games: u32,
    /// Maximum numbers of challenges.
    pub challenge_limits: OpenChallengeLimits,
    /// A version plays until its rating is known this well: half the width of its 95 % interval.
    pub target_error: f64,
    /// A version plays at most this many games of its own accord.
    pub max_ladder_games: u32,
}

impl PracticeConfig {
    /// The defaults for a machine with this many cores.
    pub fn new(cores: usize) -> Self {
        Self {
            ladder: true,
            challenges: true,
            ladder_cores: 1.max(cores / 2),
            challenge_cores: cores.clamp(1, 4),
            guest_share: 0.03,
            guest_burst: Duration::from_secs(10),
            game_timeout: Duration::from_mins(2),
            max_games: 100,
            challenge_limits: OpenChallengeLimits { per_account: 5, per_hour: 120, total: 500 },
            target_error: 35.0,
            max_ladder_games: 600,
        }
    }
}
