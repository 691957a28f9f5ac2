//! A handle on a running program, sandboxed or not: its pipes, its exit, and how to stop it.

use std::fmt::Debug;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::process::Child;
use std::sync::Arc;

use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open, waitid,
};

use crate::sandbox::{BotExit, BotGroup, SandboxedProcess};

/// The engine's ends of a program's standard streams.
#[derive(Debug, Default)]
pub struct Pipes {
    /// Write end of the program's stdin.
    pub stdin: Option<OwnedFd>,
    /// Read end of the program's stdout.
    pub stdout: Option<OwnedFd>,
    /// Read end of the program's stderr.
    pub stderr: Option<OwnedFd>,
}

/// A running program. Dropping it ends the program.
pub trait ProcessHandle: Debug + Send {
    /// The id of the process whose time is measured.
    fn id(&self) -> u32;

    /// Whether it runs in the sandbox.
    fn is_sandboxed(&self) -> bool {
        false
    }

    /// The cgroup of all its processes, if it has one.
    fn group(&self) -> Option<Arc<BotGroup>> {
        None
    }

    /// The pipes; the first call takes them.
    fn take_pipes(&mut self) -> Pipes;

    /// A descriptor that becomes readable when the program ends.
    fn exit(&self) -> BorrowedFd<'_>;

    /// Stops the program and everything it has started.
    fn pause(&self);

    /// Continues them.
    fn resume(&self);

    /// Describes how the program ended, if it ended by itself.
    fn ended(&mut self) -> Option<String>;

    /// Kills the program and everything it has started, and waits until they are gone.
    fn kill(&mut self);
}

impl ProcessHandle for SandboxedProcess {
    fn id(&self) -> u32 {
        self.pid().as_raw_nonzero().get().unsigned_abs()
    }

    fn is_sandboxed(&self) -> bool {
        true
    }

    fn group(&self) -> Option<Arc<BotGroup>> {
        Self::group(self).cloned()
    }

    fn take_pipes(&mut self) -> Pipes {
        Pipes {
            stdin: self.take_stdin().map(OwnedFd::from),
            stdout: self.take_stdout().map(OwnedFd::from),
            stderr: self.take_stderr().map(OwnedFd::from),
        }
    }

    fn exit(&self) -> BorrowedFd<'_> {
        self.as_fd()
    }

    /// An error means that no process is left, which is fine.
    fn pause(&self) {
        let _ = Self::pause(self);
    }

    fn resume(&self) {
        let _ = Self::resume(self);
    }

    fn ended(&mut self) -> Option<String> {
        self.try_wait().map(|ended| ended.to_string())
    }

    fn kill(&mut self) {
        self.kill_all();
    }
}

/// A program without a sandbox: a child that leads its own process group.
#[derive(Debug)]
pub struct UnsandboxedProcess {
    child: Child,
    exit: OwnedFd,
    /// `None` after the child was reaped: the kernel may then reuse the number.
    group: Option<Pid>,
}

impl UnsandboxedProcess {
    /// Wraps a child that was started with pipes, as the leader of a process group.
    pub fn new(mut child: Child) -> io::Result<Self> {
        let opened = match i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
            Some(group) => pidfd_open(group, PidfdFlags::empty()).map(|exit| (group, exit)),
            None => Err(rustix::io::Errno::SRCH),
        };
        match opened {
            Ok((group, exit)) => Ok(Self { child, exit, group: Some(group) }),
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(error.into())
            }
        }
    }

    /// An error means that no process is left, which is fine.
    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            let _ = kill_process_group(group, signal);
        }
    }
}

impl ProcessHandle for UnsandboxedProcess {
    fn id(&self) -> u32 {
        self.child.id()
    }

    fn take_pipes(&mut self) -> Pipes {
        Pipes {
            stdin: self.child.stdin.take().map(OwnedFd::from),
            stdout: self.child.stdout.take().map(OwnedFd::from),
            stderr: self.child.stderr.take().map(OwnedFd::from),
        }
    }

    fn exit(&self) -> BorrowedFd<'_> {
        self.exit.as_fd()
    }

    fn pause(&self) {
        self.signal(Signal::STOP);
    }

    fn resume(&self) {
        self.signal(Signal::CONT);
    }

    fn ended(&mut self) -> Option<String> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // The child is not reaped yet, so its number stays valid until its group is killed.
        let has_ended =
            self.group.is_some_and(|pid| matches!(waitid(WaitId::Pid(pid), options), Ok(Some(_))));
        if has_ended {
            self.kill();
        }
        if self.group.is_some() {
            return None;
        }
        self.child.try_wait().ok().flatten().map(|status| BotExit::from(status).to_string())
    }

    fn kill(&mut self) {
        self.signal(Signal::KILL);
        if self.group.take().is_some() {
            let _ = self.child.wait();
        }
    }
}

impl Drop for UnsandboxedProcess {
    fn drop(&mut self) {
        self.kill();
    }
}
