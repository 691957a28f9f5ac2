//! Finds out which layers work here: it tries each one in a child of the launcher.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use landlock::{ABI, Access as _, AccessFs, LandlockStatus, Ruleset, RulesetAttr as _};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType};
use rustix::process::{Resource, WaitOptions, getpid, getppid, getrlimit, getuid, waitpid};

use super::cgroup::{self, Cgroups};
use super::controllers;
use super::launcher_protocol::{Mode, SandboxPlan, SandboxProbe, StepContext as _, StepError};
use super::layer::{Layer, LayerKind};
use super::policy::{Limits, Policy, User};
use super::unsafe_syscalls::Forked;
use super::{landlock_rules, limits, namespaces, seccomp, unsafe_syscalls};

/// Tries every layer. Without given folders, the bots' cgroups are created below this process's own.
pub(super) fn all(cgroups: Option<Vec<PathBuf>>) -> SandboxProbe {
    let cgroups = cgroups.unwrap_or_else(own_cgroup);
    for parent in &cgroups {
        cgroup::remove_stale(parent);
    }
    let version = trial(|| landlock_version().map(|version| version.to_string()));
    let landlock = version.as_ref().ok().and_then(|version| version.parse().ok()).unwrap_or(0);
    let (mode, namespaces) = try_namespaces();
    let (many_users, user) = try_user();
    let mut layers = vec![layer(LayerKind::Namespaces, namespaces)];
    layers.extend(landlock_layers(version, landlock));
    layers.push(layer(LayerKind::Seccomp, trial(try_seccomp)));
    layers.push(layer(LayerKind::Limits, trial(try_limits)));
    layers.push(layer(LayerKind::Cgroup, trial(|| try_cgroup(&cgroups))));
    layers.push(layer(LayerKind::User, user));
    layers.push(layer(LayerKind::Privileges, trial(try_privileges)));
    SandboxProbe { layers, mode, landlock, many_users, cgroups }
}

/// The folder for the bots' cgroups: this process's own, or the one above it if Agon has moved itself.
fn own_cgroup() -> Vec<PathBuf> {
    let Some(folder) = cgroup::own_folder().map(controllers::bots_parent) else { return Vec::new() };
    if let Some(engine) = getppid() {
        controllers::enable(&folder, engine, &controllers::WANTED);
    }
    vec![folder]
}

fn layer(kind: LayerKind, result: Result<String, StepError>) -> Layer {
    match result {
        Ok(detail) => Layer { kind, active: true, detail },
        Err(failure) => {
            Layer { kind, active: false, detail: format!("{}: {}", failure.step, failure.reason) }
        }
    }
}

/// Runs `what` in a child, so that the layers it enters end with the child.
fn trial(what: impl FnOnce() -> Result<String, StepError>) -> Result<String, StepError> {
    let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).step("pipe")?;
    let child = match unsafe_syscalls::fork().step("fork")? {
        Forked::Parent(child) => child,
        Forked::Child(_) => {
            drop(read);
            let bytes = serde_json::to_vec(&what()).unwrap_or_default();
            let _ = rustix::io::write(&write, &bytes);
            unsafe_syscalls::exit_now(0)
        }
    };
    drop(write);
    let mut said = Vec::new();
    let read = std::fs::File::from(read).read_to_end(&mut said);
    let _ = waitpid(Some(child), WaitOptions::empty());
    read.step("reading the result of the trial")?;
    serde_json::from_slice(&said)
        .map_err(|_| StepError::new("trying it", "the trial ended without a result"))?
}

fn try_namespaces() -> (Option<Mode>, Result<String, StepError>) {
    let mode = if getuid().is_root() { Mode::Plain } else { Mode::WithUser };
    let result = trial(|| {
        namespaces::open(mode)?;
        // The process namespace starts with the next child.
        trial(|| {
            let mut policy = Policy::new("/dev/null", "/");
            policy.readable.clear();
            namespaces::enter(&policy, None, &[])?;
            let proc = if Path::new("/proc/self").exists() { "" } else { ", without /proc" };
            if getpid().as_raw_nonzero().get() != 1 || Path::new("/etc/passwd").exists() {
                return Err(StepError::new("namespaces", "the kernel created them but they do not isolate"));
            }
            Ok(match mode {
                Mode::Plain => format!("process, mount, network, IPC, host name{proc}"),
                Mode::WithUser => format!("user, process, mount, network, IPC, host name{proc}"),
            })
        })
    });
    (result.is_ok().then_some(mode), result)
}

/// A unique user id, or else the overflow id.
fn try_user() -> (bool, Result<String, StepError>) {
    if !getuid().is_root() {
        return (false, Err(StepError::new("user", "not started as root")));
    }
    let attempt = |user: User| {
        trial(move || {
            limits::drop_privileges(Some(user))?;
            if getuid().as_raw() != user.uid {
                return Err(StepError::new("user", "the kernel did not change it"));
            }
            Ok(String::new())
        })
    };
    match attempt(User::dedicated(0, 0)) {
        Ok(_) => (true, Ok("a user id for each bot".to_owned())),
        Err(_) => (false, attempt(User::OVERFLOW).map(|_| "all bots share the user id 65534".to_owned())),
    }
}

/// The version of Landlock that the kernel reports.
fn landlock_version() -> Result<u8, StepError> {
    let rules = Ruleset::default().handle_access(AccessFs::from_all(ABI::V1)).step("landlock")?;
    let status = rules.create().step("landlock")?.restrict_self().step("landlock")?;
    match status.landlock {
        LandlockStatus::Available { effective_abi, kernel_abi } => {
            Ok(kernel_abi.and_then(|abi| u8::try_from(abi).ok()).unwrap_or(effective_abi as u8))
        }
        LandlockStatus::NotEnabled => Err(StepError::new("landlock", "built in, but not enabled at boot")),
        LandlockStatus::NotImplemented => Err(StepError::new("landlock", "not in this kernel")),
    }
}

fn landlock_layers(version: Result<String, StepError>, number: u8) -> [Layer; 3] {
    let part = |kind: LayerKind, needs: u8| {
        if number < needs {
            let reason = format!("needs version {needs}, this kernel has {number}");
            return layer(kind, Err(StepError::new("landlock", reason)));
        }
        let plan = plan_of(number, &[LayerKind::Landlock, kind]);
        layer(kind, trial(move || landlock_rules::restrict_all(&plan).map(|()| format!("version {number}"))))
    };
    let files = version.and_then(|_| trial(|| try_landlock(number)));
    [
        layer(LayerKind::Landlock, files),
        part(LayerKind::LandlockNetwork, 4),
        part(LayerKind::LandlockScopes, 6),
    ]
}

fn try_landlock(version: u8) -> Result<String, StepError> {
    landlock_rules::restrict_all(&plan_of(version, &[LayerKind::Landlock]))?;
    match std::fs::read_dir("/") {
        Ok(_) => Err(StepError::new("landlock", "the kernel accepted the rules but does not enforce them")),
        Err(_) => Ok(format!("version {version}")),
    }
}

fn plan_of(landlock: u8, kinds: &[LayerKind]) -> SandboxPlan {
    SandboxPlan { mode: None, landlock, kinds: kinds.to_vec(), user: None, cgroups: Vec::new() }
}

fn try_seccomp() -> Result<String, StepError> {
    limits::drop_privileges(None)?;
    let options = seccomp::SeccompOptions {
        may_fork: true,
        may_start_processes: true,
        host_adds_landlock_rules: false,
        signals_stay_inside: false,
        landlock_controls_truncate: false,
        descriptors_are_listed: false,
        weakened: Vec::new(),
    };
    seccomp::restrict(&options, getpid())?;
    match rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None) {
        Err(Errno::PERM) => Ok(std::env::consts::ARCH.to_owned()),
        Err(other) => {
            Err(StepError::new("seccomp", format!("creating a socket gave {other} instead of EPERM")))
        }
        Ok(_) => Err(StepError::new("seccomp", "a socket could be created")),
    }
}

fn try_limits() -> Result<String, StepError> {
    let wanted = Limits::default();
    let files = getrlimit(Resource::Nofile).maximum;
    if files.is_some_and(|most| most < u64::from(wanted.open_files)) {
        return Err(StepError::new("limits", "fewer descriptors than a bot needs"));
    }
    let mut policy = Policy::new("/dev/null", "/");
    policy.limits = wanted;
    limits::set(&policy, 0)?;
    if getrlimit(Resource::Core).maximum == Some(0)
        && getrlimit(Resource::Data).maximum == Some(wanted.memory)
    {
        return Ok("memory, processes, descriptors, file size, processor time".to_owned());
    }
    Err(StepError::new("limits", "memory is limited to less than a bot usually gets"))
}

fn try_cgroup(parents: &[PathBuf]) -> Result<String, StepError> {
    if parents.is_empty() {
        return Err(StepError::new(
            "cgroup",
            "this kernel has no cgroup of version 2 mounted, or none was given",
        ));
    }
    let place = parents.iter().map(|parent| parent.display().to_string()).collect::<Vec<_>>().join(", ");
    let step = format!("creating a cgroup in {place}");
    // The number marks it as ours, so that a later start removes it if this one is killed.
    let name = format!("{}{}-0", cgroup::NAME_PREFIX, getpid().as_raw_nonzero());
    let groups = Cgroups::make(parents, &name, &Limits::default()).step(&step)?;
    let entries = groups.entries().step(&step)?;
    trial(|| {
        entries.group.iter().try_for_each(cgroup::join_folder).step(&step)?;
        cgroup::join(&entries.join_files).step(&step).map(|()| String::new())
    })?;
    let powers = groups.powers();
    if powers.is_empty() {
        return Err(StepError::new("cgroup", "the cgroups limit nothing: no controller is enabled for them"));
    }
    Ok(format!("{}, in {place}", powers.join(", ")))
}

fn try_privileges() -> Result<String, StepError> {
    limits::drop_privileges(None)?;
    let left = rustix::thread::capabilities(None).step("capabilities")?;
    if !left.permitted.is_empty() || !rustix::thread::no_new_privs().step("no new privileges")? {
        return Err(StepError::new("privileges", "some are left"));
    }
    Ok("no capabilities, no new privileges".to_owned())
}
