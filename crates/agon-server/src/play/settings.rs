//! Who may play in the browser, and how much of the machine games of persons may use.

use std::time::Duration;

/// Who may play.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PlayAccess {
    /// Every visitor.
    #[default]
    Everyone,
    /// Only users who are signed in.
    Accounts,
    /// Nobody: playing is off.
    Off,
}

/// Settings of games that persons play in the browser.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlaySettings {
    /// Who may play.
    pub access: PlayAccess,
    /// Maximum number of open sessions: those that wait for persons, and running games.
    pub max_sessions: usize,
    /// The same for one account, or one address of visitors who are not signed in.
    pub max_sessions_per_owner: usize,
    /// Maximum number of running games with programs. House bots are not counted.
    pub max_program_games: usize,
    /// A session that has not started after this time is closed.
    pub lobby_timeout: Duration,
    /// A person who gives no answer for this long without a clock, or has no page open for this long, has left.
    pub left_after: Duration,
    /// A game that is not over after this time is ended: all persons leave.
    pub game_timeout: Duration,
    /// Time for which a finished session stays readable. Its record stays with the played games.
    pub keep_finished: Duration,
}

impl PlaySettings {
    /// The default on a machine with this many cores.
    pub const fn for_cores(cores: usize) -> Self {
        Self {
            access: PlayAccess::Everyone,
            max_sessions: 200,
            max_sessions_per_owner: 4,
            max_program_games: if cores == 0 { 1 } else { cores },
            lobby_timeout: Duration::from_mins(10),
            left_after: Duration::from_mins(10),
            game_timeout: Duration::from_hours(6),
            keep_finished: Duration::from_hours(1),
        }
    }
}
