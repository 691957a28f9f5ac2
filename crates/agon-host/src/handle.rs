//! A hold on a running program: its pipes, its end, and how to stop it. Whatever started it, behind a sandbox or not.

use std::fmt::Debug;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::process::Child;

use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open, waitid,
};

use crate::sandbox::{BotExit, SandboxedProcess};

/// Our ends of a program's standard streams.
#[derive(Debug, Default)]
pub struct Pipes {
    /// What we write.
    pub stdin: Option<OwnedFd>,
    /// What we read.
    pub stdout: Option<OwnedFd>,
    /// Its log.
    pub stderr: Option<OwnedFd>,
}

/// A running program. Dropped, it is ended.
pub trait ProcessHandle: Debug + Send {
    /// The number of the process whose time is measured.
    fn id(&self) -> u32;

    /// Its pipes, once.
    fn take_pipes(&mut self) -> Pipes;

    /// Becomes readable when it ends.
    fn exit(&self) -> BorrowedFd<'_>;

    /// Holds it and all it has started still.
    fn pause(&self);

    /// Lets them go on.
    fn resume(&self);

    /// How it ended by itself, in words, if it has.
    fn ended(&mut self) -> Option<String>;

    /// Ends it and all it has started, and waits until it is gone.
    fn kill(&mut self);
}

impl ProcessHandle for SandboxedProcess {
    fn id(&self) -> u32 {
        self.pid().as_raw_nonzero().get().unsigned_abs()
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

    /// That nobody is left is no trouble.
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

/// A program without a sandbox: a child, the leader of a process group of its own.
#[derive(Debug)]
pub struct UnsandboxedProcess {
    child: Child,
    exit: OwnedFd,
    /// `None` once the child was waited for: then the number may be somebody else's.
    group: Option<Pid>,
}

impl UnsandboxedProcess {
    /// Takes a child that was started as the leader of a process group, with pipes.
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

    /// That nobody is left is no trouble.
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
        // It still is there to be waited for, so that its number stays its own until its group is ended.
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
