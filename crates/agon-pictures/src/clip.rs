//! Turns of a clip: which of them are shown, and for how long.

use std::time::Duration;

use crate::Theme;

/// What a clip may cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClipLimits {
    /// Maximum number of frames. A longer range skips turns.
    pub frames: usize,
    /// Maximum size in bytes. A larger clip is made smaller.
    pub bytes: usize,
    /// Time after which the work stops.
    pub time: Option<Duration>,
}

impl Default for ClipLimits {
    fn default() -> Self {
        Self { frames: 300, bytes: 16 << 20, time: None }
    }
}

/// A clip of a game.
#[derive(Clone, Copy, Debug)]
pub struct ClipOptions {
    /// First turn.
    pub from: usize,
    /// Last turn.
    pub to: usize,
    /// Time of each turn.
    pub turn_time: Duration,
    /// Width in pixels.
    pub width: u32,
    /// Theme.
    pub theme: Theme,
    /// Limits.
    pub limits: ClipLimits,
}

/// Shortest time of a frame that all programs show as it is written.
pub const MIN_TURN_TIME: Duration = Duration::from_millis(20);
/// Longest time of a frame.
pub const MAX_TURN_TIME: Duration = Duration::from_secs(10);
/// Additional time of the last frame.
pub const LAST_FRAME_TIME: Duration = Duration::from_millis(1_500);

/// Time of a turn at a speed in turns per second.
pub fn turn_time(turns_per_second: f64) -> Duration {
    let seconds = 1.0 / turns_per_second;
    Duration::try_from_secs_f64(seconds).unwrap_or(MAX_TURN_TIME).clamp(MIN_TURN_TIME, MAX_TURN_TIME)
}

/// The turns that a clip shows: all of them, or so many that they are as far from each other as possible. The first and the last
/// turn are among them.
pub fn turns(from: usize, to: usize, most: usize) -> Vec<usize> {
    let to = to.max(from);
    let (count, most) = (to - from + 1, most.max(2));
    if count <= most {
        return (from..=to).collect();
    }
    (0..most).map(|frame| from + (to - from) * frame / (most - 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_range_keeps_its_ends_and_skips_turns() {
        assert_eq!(turns(3, 6, 10), [3, 4, 5, 6]);
        assert_eq!(turns(0, 100, 5), [0, 25, 50, 75, 100]);
        assert_eq!(turns(5, 2, 5), [5]);
        assert_eq!(turns(0, 10_000, 120).len(), 120);
    }

    #[test]
    fn speeds_are_clamped() {
        assert_eq!(turn_time(4.0), Duration::from_millis(250));
        assert_eq!(turn_time(0.0), MAX_TURN_TIME);
        assert_eq!(turn_time(-1.0), MAX_TURN_TIME);
        assert_eq!(turn_time(1e9), MIN_TURN_TIME);
        assert_eq!(turn_time(f64::NAN), MAX_TURN_TIME);
    }
}
