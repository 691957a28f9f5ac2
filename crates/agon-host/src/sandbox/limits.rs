//! The kernel's limits for each process, and dropping privileges.

use std::fs;

use rustix::process::{Resource, Rlimit, getrlimit, getuid, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set, disable_transparent_huge_pages,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs, set_thread_groups,
    set_thread_res_gid, set_thread_res_uid,
};

use super::defence::Defence;
use super::launcher_protocol::{Mode, SandboxPlan, StepContext as _, StepError};
use super::policy::{Policy, User};

/// Sets all limits, and switches huge pages off. `others` is the number of other processes and threads that count against the same
/// limit.
///
/// With huge pages one page fault could add 2 MiB, too fast and too coarse to count. And whether a bot gets them depends on the
/// machine's state, so that the times of equal bots would differ.
pub(super) fn set(policy: &Policy, others: u64) -> Result<(), StepError> {
    // A kernel without huge pages does not know the setting.
    let _ = disable_transparent_huge_pages(true);
    all(policy, others).into_iter().try_for_each(|(_, resource, limit)| lower(resource, limit))
}

/// All limits, with their names.
pub(super) fn all(policy: &Policy, others: u64) -> Vec<(&'static str, Resource, u64)> {
    let limits = &policy.limits;
    let mut all = vec![
        ("CORE", Resource::Core, 0),
        ("DATA", Resource::Data, limits.memory),
        ("STACK", Resource::Stack, STACK_BYTES.min(limits.memory)),
        ("NPROC", Resource::Nproc, u64::from(limits.processes) + others),
        ("NOFILE", Resource::Nofile, u64::from(limits.open_files)),
        ("FSIZE", Resource::Fsize, limits.file_size),
        ("CPU", Resource::Cpu, limits.cpu_seconds),
        ("MEMLOCK", Resource::Memlock, MAX_LOCKED_BYTES),
        ("MSGQUEUE", Resource::Msgqueue, 0),
        ("NICE", Resource::Nice, 0),
        ("RTPRIO", Resource::Rtprio, 0),
    ];
    if !policy.weakened.contains(&Defence::PendingSignals) {
        all.push(("SIGPENDING", Resource::Sigpending, MAX_PENDING_SIGNALS));
    }
    all.extend(limits.address_space.map(|bytes| ("AS", Resource::As, bytes)));
    all
}

/// The same for people and tests, by name.
#[cfg(test)]
pub(crate) fn by_name(policy: &Policy) -> Vec<(&'static str, u64)> {
    all(policy, 0).into_iter().map(|(name, _, limit)| (name, limit)).collect()
}

/// Maximum number of signals that wait to be delivered, over all processes of the user. Each takes memory in the kernel.
pub(crate) const MAX_PENDING_SIGNALS: u64 = 1024;

/// Memory that a process may lock.
pub(crate) const MAX_LOCKED_BYTES: u64 = 64 << 10;

/// The usual stack size of a program.
pub(crate) const STACK_BYTES: u64 = 8 << 20;

fn lower(resource: Resource, limit: u64) -> Result<(), StepError> {
    // Keep a limit that is already lower: only a privileged process could raise it, and a bot never needs that.
    let limit = getrlimit(resource).maximum.map_or(limit, |already| already.min(limit));
    let limit = Rlimit { current: Some(limit), maximum: Some(limit) };
    setrlimit(resource, limit).map_err(|error| StepError::new(format!("limit of {resource:?}"), error))
}

/// The number of other processes and threads that count against the bot's limit.
///
/// For a dedicated user there are none. In a user namespace there are the launcher, the namespace's first process and the bot
/// itself. Otherwise every process of the same user counts, and the limit can only be set relative to them.
pub(super) fn others(plan: &SandboxPlan) -> u64 {
    match (plan.user, plan.mode) {
        (Some(user), _) if user.is_dedicated() => 0,
        (Some(user), _) => tasks_of(user.uid),
        (None, Some(Mode::WithUser)) => 2,
        (None, _) => tasks_of(getuid().as_raw()),
    }
}

/// The number of threads of a user.
fn tasks_of(uid: u32) -> u64 {
    let Ok(processes) = fs::read_dir("/proc") else { return 4096 };
    let threads = |status: String| {
        let field = |name: &str| {
            status
                .lines()
                .find_map(|line| line.strip_prefix(name))?
                .split_whitespace()
                .next()?
                .parse::<u64>()
                .ok()
        };
        (field("Uid:") == Some(u64::from(uid))).then(|| field("Threads:")).flatten()
    };
    let statuses =
        processes.flatten().filter_map(|process| fs::read_to_string(process.path().join("status")).ok());
    statuses.filter_map(threads).sum()
}

/// Changes to the bot's user, if there is one, and drops every capability permanently.
pub(super) fn drop_privileges(user: Option<User>) -> Result<(), StepError> {
    clear_ambient_capability_set().step("ambient capabilities")?;
    for capability in CapabilitySet::all().iter() {
        // An error means that the kernel does not know the capability or that this process lacks it. Then the bot lacks it too.
        let _ = remove_capability_from_bounding_set(capability);
    }
    if let Some(User { uid, gid }) = user {
        become_user(uid, gid)?;
    }
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
        .step("capabilities")?;
    set_no_new_privs(true).step("no new privileges")
}

fn become_user(uid: u32, gid: u32) -> Result<(), StepError> {
    let (uid, gid) = (rustix::process::Uid::from_raw(uid), rustix::process::Gid::from_raw(gid));
    set_thread_groups(&[]).step("groups")?;
    set_thread_res_gid(gid, gid, gid).step("group")?;
    set_thread_res_uid(uid, uid, uid).step("user")
}
