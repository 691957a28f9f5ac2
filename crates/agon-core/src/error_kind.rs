//! Class of an error, the same in all crates. The command line turns it into an exit code, the server into an HTTP status.

use serde::{Deserialize, Serialize};

/// Class of an error.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The request was carried out and the answer is no: a check failed, a replay differs.
    Rejected,
    /// The user can fix it: wrong arguments, files or settings.
    Usage,
    /// Something broke: the disk, the network, a server, or this program.
    Internal,
}

impl ErrorKind {
    /// `Usage` if the user can fix the error, else `Internal`.
    pub const fn usage_if(is_usage: bool) -> Self {
        if is_usage { Self::Usage } else { Self::Internal }
    }
}
