//! The zygote process: a Python interpreter that has imported common libraries, and forks.

use std::collections::HashMap;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use agon_core::LockIgnoringPoison as _;
use rustix::event::{PollFd, PollFlags, poll};

use super::socket;
use crate::program::ZygoteOptions;

/// Timeout for the start. Importing `NumPy` takes a tenth of a second, or a few seconds from a slow disk.
const START_TIMEOUT: Duration = Duration::from_mins(1);

/// A zygote process. It ends when its control socket is closed.
#[derive(Debug)]
pub struct ZygoteServer {
    child: Mutex<Child>,
    control: OwnedFd,
}

impl ZygoteServer {
    /// The zygote for such bots. This program has one for each interpreter and its arguments.
    pub fn of(program: &str, options: &ZygoteOptions) -> io::Result<Arc<Self>> {
        type Zygotes = HashMap<(String, Vec<String>), Arc<ZygoteServer>>;
        static ZYGOTES: OnceLock<Mutex<Zygotes>> = OnceLock::new();
        let zygotes = ZYGOTES.get_or_init(Mutex::default);
        let mut zygotes = zygotes.lock_ignoring_poison();
        let key = (program.to_owned(), options.arguments.clone());
        if let Some(zygote) = zygotes.get(&key).filter(|zygote| zygote.is_alive()) {
            return Ok(Arc::clone(zygote));
        }
        let zygote = Arc::new(Self::start(program, options)?);
        zygotes.insert(key, Arc::clone(&zygote));
        Ok(zygote)
    }

    fn start(program: &str, options: &ZygoteOptions) -> io::Result<Self> {
        let (control, theirs) = socket::pair()?;
        let mut command = Command::new(program);
        command.args(&options.arguments).env_clear().envs(options.environment.iter().map(|(k, v)| (k, v)));
        // It must not import modules from the current folder.
        command.current_dir("/");
        // The engine decides what a terminal's Ctrl-C does.
        command.stdin(Stdio::from(theirs)).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn()?;
        drop(command);
        if !is_ready(control.as_fd())? {
            let _ = child.kill();
            let mut stderr_text = String::new();
            if let Some(stderr) = &mut child.stderr {
                let _ = stderr.take(4096).read_to_string(&mut stderr_text);
            }
            let _ = child.wait();
            let last = stderr_text.trim().lines().last().unwrap_or("it printed nothing").to_owned();
            return Err(io::Error::other(format!("the Python zygote did not start: {last}")));
        }
        tracing::debug!(program, pid = child.id(), "zygote started");
        Ok(Self { child: Mutex::new(child), control })
    }

    fn is_alive(&self) -> bool {
        let mut child = self.child.lock_ignoring_poison();
        matches!(child.try_wait(), Ok(None))
    }

    /// The socket for fork requests.
    pub fn control_socket(&self) -> BorrowedFd<'_> {
        self.control.as_fd()
    }
}

/// Waits until the zygote has reported that it is ready.
fn is_ready(control: BorrowedFd<'_>) -> io::Result<bool> {
    let timeout = rustix::event::Timespec { tv_sec: START_TIMEOUT.as_secs() as i64, tv_nsec: 0 };
    let mut fds = [PollFd::from_borrowed_fd(control, PollFlags::IN)];
    while let Err(error) = poll(&mut fds, Some(&timeout)) {
        if error != rustix::io::Errno::INTR {
            return Err(error.into());
        }
    }
    match socket::receive(control, &mut [0; 64]) {
        Ok(Some(packet)) => Ok(packet.bytes == b"ready"),
        Ok(None) => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error),
    }
}
