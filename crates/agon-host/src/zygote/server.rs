//! The warm parent: a Python that has imported what bots import, and forks.

use std::collections::HashMap;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};

use super::socket;
use crate::program::ZygoteOptions;

/// Importing `NumPy` takes a tenth of a second, from a cold disk a few.
const TO_START: Duration = Duration::from_mins(1);

/// A warm parent. It ends when nobody holds its door any more.
#[derive(Debug)]
pub struct ZygoteServer {
    child: Mutex<Child>,
    door: OwnedFd,
}

impl ZygoteServer {
    /// The parent for such bots; there is one for all of this program.
    pub fn of(program: &str, warm: &ZygoteOptions) -> io::Result<Arc<Self>> {
        type Parents = HashMap<(String, Vec<String>), Arc<ZygoteServer>>;
        static PARENTS: OnceLock<Mutex<Parents>> = OnceLock::new();
        let parents = PARENTS.get_or_init(Mutex::default);
        let mut parents = parents.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (program.to_owned(), warm.parent.clone());
        if let Some(parent) = parents.get(&key).filter(|parent| parent.lives()) {
            return Ok(Arc::clone(parent));
        }
        let parent = Arc::new(Self::start(program, warm)?);
        parents.insert(key, Arc::clone(&parent));
        Ok(parent)
    }

    fn start(program: &str, warm: &ZygoteOptions) -> io::Result<Self> {
        let (door, theirs) = socket::pair()?;
        let mut command = Command::new(program);
        command.args(&warm.parent).env_clear().envs(warm.environment.iter().map(|(k, v)| (k, v)));
        // Modules of whatever folder we are in are none of its business.
        command.current_dir("/");
        // A terminal's Ctrl-C is for the engine to decide about.
        command.stdin(Stdio::from(theirs)).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn()?;
        drop(command);
        if !is_ready(door.as_fd())? {
            let _ = child.kill();
            let mut words = String::new();
            if let Some(stderr) = &mut child.stderr {
                let _ = stderr.take(4096).read_to_string(&mut words);
            }
            let _ = child.wait();
            let last = words.trim().lines().last().unwrap_or("it said nothing").to_owned();
            return Err(io::Error::other(format!("the warm Python did not start: {last}")));
        }
        tracing::debug!(program, pid = child.id(), "Python fork server started");
        Ok(Self { child: Mutex::new(child), door })
    }

    fn lives(&self) -> bool {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        matches!(child.try_wait(), Ok(None))
    }

    /// Where it is asked for a fork.
    pub fn control_socket(&self) -> BorrowedFd<'_> {
        self.door.as_fd()
    }
}

/// Waits until the parent has said that it is ready.
fn is_ready(door: BorrowedFd<'_>) -> io::Result<bool> {
    let timeout = rustix::event::Timespec { tv_sec: TO_START.as_secs() as i64, tv_nsec: 0 };
    let mut fds = [PollFd::from_borrowed_fd(door, PollFlags::IN)];
    while let Err(error) = poll(&mut fds, Some(&timeout)) {
        if error != rustix::io::Errno::INTR {
            return Err(error.into());
        }
    }
    match socket::receive(door, &mut [0; 64]) {
        Ok(Some(packet)) => Ok(packet.bytes == b"ready"),
        Ok(None) => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error),
    }
}
