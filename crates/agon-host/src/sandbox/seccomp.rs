//! The system calls that a bot may make.
//!
//! Two filters. The first allows the listed calls and answers `ENOSYS` to everything else, so that libraries fall back to older
//! calls, and unknown new calls stay closed. The second answers `EPERM` to calls that a bot might try on purpose, so that its
//! author reads "not permitted" and not "not implemented".

use std::collections::BTreeMap;

use rustix::process::Pid;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};

use super::defence::Defence;
use super::launcher_protocol::{SandboxPlan, StepContext as _, StepError};
use super::layer::LayerKind;
use super::policy::Policy;
use super::syscall_lists::{ALLOWED, ALLOWED_ARCH, KERNEL_OBJECTS, LANDLOCK_CALLS, REFUSED, REFUSED_ARCH};

/// Options of the filters, besides the lists below.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches, each named where it is set")]
pub(super) struct SeccompOptions {
    /// The bot may start threads, and processes if `may_start_processes`.
    pub may_fork: bool,
    /// The bot may start processes, not only threads.
    pub may_start_processes: bool,
    /// Another layer keeps signals inside. Without one, the bot can only signal itself.
    pub signals_stay_inside: bool,
    /// Landlock controls truncation.
    pub landlock_controls_truncate: bool,
    /// The launcher looks for files that the bot has deleted and keeps open, so it must be able to list the bot's descriptors.
    pub descriptors_are_listed: bool,
    /// The host in the bot's process still has to add Landlock rules, and refuses further ones itself.
    pub host_adds_landlock_rules: bool,
    /// Defences that a test has switched off.
    pub weakened: Vec<Defence>,
}

impl SeccompOptions {
    pub(super) fn of(plan: &SandboxPlan, policy: &Policy) -> Self {
        Self {
            may_fork: policy.limits.processes > 1,
            may_start_processes: policy.may_start_processes(plan.has(LayerKind::Cgroup)),
            signals_stay_inside: plan.signals_stay_inside(),
            landlock_controls_truncate: plan.mode.is_some()
                || (plan.has(LayerKind::Landlock) && plan.landlock >= 3),
            descriptors_are_listed: !policy.writable.is_empty(),
            host_adds_landlock_rules: policy.host_adds_landlock_rules,
            weakened: policy.weakened.clone(),
        }
    }

    fn has(&self, defence: Defence) -> bool {
        !self.weakened.contains(&defence)
    }
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Installs both filters in this process, permanently. `own` is the process id as the process itself sees it.
pub(super) fn restrict(options: &SeccompOptions, own: Pid) -> Result<(), StepError> {
    let own = own.as_raw_nonzero().get().unsigned_abs();
    programs(options, own)?.iter().try_for_each(|program| apply_filter(program).step("seccomp"))
}

/// Placeholder in filters for the id of a process that does not exist yet. Larger than any id.
pub(super) const OWN_PID_PLACEHOLDER: u32 = 0x4F57_4E21;

/// Both filters as bytes, in the order in which they are installed. The process replaces [`OWN_PID_PLACEHOLDER`] in them.
pub(super) fn as_bytes(options: &SeccompOptions) -> Result<[Vec<u8>; 2], StepError> {
    let bytes = |program: &BpfProgram| {
        let code = program.iter().flat_map(|instruction| {
            let [low, high] = instruction.code.to_ne_bytes();
            let [a, b, c, d] = instruction.k.to_ne_bytes();
            [low, high, instruction.jt, instruction.jf, a, b, c, d]
        });
        code.collect()
    };
    Ok(programs(options, OWN_PID_PLACEHOLDER)?.each_ref().map(bytes))
}

/// If both filters refuse a call, the answer of the one installed last counts.
fn programs(options: &SeccompOptions, own: u32) -> Result<[BpfProgram; 2], StepError> {
    let arch = TargetArch::try_from(std::env::consts::ARCH).step("seccomp")?;
    let program =
        |rules: Rules, otherwise: SeccompAction, matched: SeccompAction| -> Result<BpfProgram, StepError> {
            let filter = SeccompFilter::new(rules, otherwise, matched, arch).step("seccomp")?;
            filter.try_into().step("seccomp")
        };
    let errno = |number: i32| SeccompAction::Errno(number.unsigned_abs());
    let listed = program(allowed(options)?, errno(libc::ENOSYS), SeccompAction::Allow)?;
    let refused = program(refused(options, own)?, SeccompAction::Allow, errno(libc::EPERM))?;
    Ok([listed, refused])
}

/// One condition on the low 32 bits of an argument, which is all the kernel reads of an `int`.
fn low(argument: u8, op: SeccompCmpOp, value: u64) -> Result<SeccompRule, StepError> {
    let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, op, value).step("seccomp")?;
    SeccompRule::new(vec![condition]).step("seccomp")
}

fn any_of(argument: u8, values: &[u64]) -> Result<Vec<SeccompRule>, StepError> {
    values.iter().map(|&value| low(argument, SeccompCmpOp::Eq, value)).collect()
}

/// One rule that matches everything except `values`.
fn none_of(argument: u8, values: &[u64]) -> Result<SeccompRule, StepError> {
    let differs = |&value| SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value);
    let conditions = values.iter().map(differs).collect::<Result<_, _>>().step("seccomp")?;
    SeccompRule::new(conditions).step("seccomp")
}

/// The calls that a bot may make.
fn allowed(options: &SeccompOptions) -> Result<Rules, StepError> {
    let mut rules: Rules = ALLOWED.iter().map(|&call| (call, Vec::new())).collect();
    rules.extend(ALLOWED_ARCH.iter().map(|&call| (call, Vec::new())));
    rules.insert(libc::SYS_prlimit64, Vec::new());
    rules.insert(libc::SYS_ioctl, any_of(1, &IOCTLS)?);
    rules.insert(libc::SYS_prctl, any_of(0, &PRCTLS)?);
    // A pair of stream sockets leads nowhere else; asyncio and Node need it. The mask removes the flags from the type.
    let unix = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, libc::AF_UNIX as u64)
        .step("seccomp")?;
    let stream = SeccompCmpOp::MaskedEq(0xf);
    let stream = SeccompCondition::new(1, SeccompCmpArgLen::Dword, stream, libc::SOCK_STREAM as u64)
        .step("seccomp")?;
    rules.insert(libc::SYS_socketpair, vec![SeccompRule::new(vec![unix, stream]).step("seccomp")?]);
    if options.may_fork {
        // A child that ends sends SIGCHLD and no other signal: SIGCONT would wake a stopped bot.
        let required = if options.may_start_processes { 0 } else { CLONE_THREAD };
        let plain = |signal: i32| {
            let mask = SeccompCmpOp::MaskedEq(NEW_NAMESPACES | EXIT_SIGNAL | required);
            low(0, mask, u64::from(signal.unsigned_abs()) | required)
        };
        rules.insert(libc::SYS_clone, vec![plain(0)?, plain(libc::SIGCHLD)?]);
        for &call in FORKS.iter().filter(|_| options.may_start_processes) {
            rules.insert(call, Vec::new());
        }
    }
    rules.extend(SIGNALS.map(|call| (call, Vec::new())));
    // The second filter refuses these. It is left out in tests.
    rules.extend(KERNEL_OBJECTS.iter().chain(&[libc::SYS_fallocate]).map(|&call| (call, Vec::new())));
    if options.landlock_controls_truncate {
        rules.insert(libc::SYS_truncate, Vec::new());
    }
    Ok(rules)
}

/// Calls that are refused with `EPERM`, and arguments that are refused although the call is allowed.
fn refused(options: &SeccompOptions, own: u32) -> Result<Rules, StepError> {
    let mut rules: Rules = REFUSED.iter().map(|&call| (call, Vec::new())).collect();
    rules.extend(REFUSED_ARCH.iter().map(|&call| (call, Vec::new())));
    rules.extend(memory_rules(options)?);
    rules.insert(libc::SYS_openat, open_rules(options, 2)?);
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_open, open_rules(options, 1)?);
    if options.has(Defence::Blocks) {
        rules.insert(libc::SYS_fallocate, Vec::new());
    }
    if options.has(Defence::KernelObjects) {
        let refused = |call: &&i64| !options.host_adds_landlock_rules || !LANDLOCK_CALLS.contains(call);
        rules.extend(KERNEL_OBJECTS.iter().filter(refused).map(|&call| (call, Vec::new())));
    }
    rules.extend(descriptor_rules(options)?);
    // The address argument of `sendto`: a socket pair needs none.
    let null = SeccompCondition::new(4, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0).step("seccomp")?;
    rules.insert(libc::SYS_sendto, vec![SeccompRule::new(vec![null]).step("seccomp")?]);
    rules.insert(libc::SYS_fcntl, fcntl_rules(options)?);
    // A bot must not read or set limits of other processes.
    rules.insert(libc::SYS_prlimit64, vec![none_of(0, &[0])?]);
    if !options.signals_stay_inside {
        let own = u64::from(own);
        // Itself, and with 0 its own group, which it cannot leave.
        rules.insert(libc::SYS_kill, vec![none_of(0, &[own, 0])?]);
        for call in
            [libc::SYS_tkill, libc::SYS_tgkill, libc::SYS_rt_sigqueueinfo, libc::SYS_rt_tgsigqueueinfo]
        {
            rules.insert(call, vec![none_of(0, &[own])?]);
        }
        rules.insert(libc::SYS_pidfd_send_signal, Vec::new());
    }
    if options.may_fork {
        rules.insert(libc::SYS_clone, clone_rules(options)?);
        if !options.may_start_processes {
            rules.extend(FORKS.iter().map(|&call| (call, Vec::new())));
        }
    } else {
        rules.insert(libc::SYS_clone, Vec::new());
        rules.extend(FORKS.iter().map(|&call| (call, Vec::new())));
    }
    Ok(rules)
}

/// `fcntl` without the commands that every program needs. The owner of a descriptor gets signals about it, including `SIGCONT`.
/// Locks, leases, a pipe's size and other hints belong to the file and not to the process, so other processes see them.
fn fcntl_rules(options: &SeccompOptions) -> Result<Vec<SeccompRule>, StepError> {
    let mut commands = FCNTLS.to_vec();
    if !options.has(Defence::Buffers) {
        commands.push(libc::F_SETPIPE_SZ as u64);
    }
    let mut rules = vec![none_of(1, &commands)?];
    for flag in FILE_FLAGS {
        let equal = |argument, op, value: i32| {
            SeccompCondition::new(argument, SeccompCmpArgLen::Dword, op, value as u64).step("seccomp")
        };
        let sets = equal(1, SeccompCmpOp::Eq, libc::F_SETFL)?;
        let flag = equal(2, SeccompCmpOp::MaskedEq(flag as u64), flag)?;
        rules.push(SeccompRule::new(vec![sets, flag]).step("seccomp")?);
    }
    Ok(rules)
}

/// `clone` with any flag for a new namespace, with another parent than the caller, or for a thread with descriptors of its own.
fn clone_rules(options: &SeccompOptions) -> Result<Vec<SeccompRule>, StepError> {
    let flags = (0..32).map(|bit| 1_u64 << bit).filter(|flag| NEW_NAMESPACES & flag != 0);
    let one = |flag: u64| low(0, SeccompCmpOp::MaskedEq(flag), flag);
    let mut rules: Vec<SeccompRule> =
        flags.chain([libc::CLONE_PARENT as u64]).map(one).collect::<Result<_, _>>()?;
    if !options.may_start_processes {
        rules.push(low(0, SeccompCmpOp::MaskedEq(CLONE_THREAD), 0)?);
    }
    if options.has(Defence::DescriptorTables) {
        let files = libc::CLONE_FILES as u64;
        rules.push(low(0, SeccompCmpOp::MaskedEq(CLONE_THREAD | files), CLONE_THREAD)?);
    }
    Ok(rules)
}

/// Memory that no limit counts, and advice about memory that reaches beyond the process.
fn memory_rules(options: &SeccompOptions) -> Result<Rules, StepError> {
    let all_of = |flags: i32| low(3, SeccompCmpOp::MaskedEq(flags as u64), flags as u64);
    let mut mmap = vec![all_of(libc::MAP_ANONYMOUS | libc::MAP_SHARED)?];
    if options.has(Defence::MappingFlags) {
        mmap.extend([all_of(libc::MAP_GROWSDOWN)?, all_of(libc::MAP_HUGETLB)?]);
    }
    // With an old size of 0 it duplicates a shared mapping.
    let none = SeccompCondition::new(1, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, 0).step("seccomp")?;
    let mremap = vec![SeccompRule::new(vec![none]).step("seccomp")?];
    let mut rules = Rules::from([(libc::SYS_mmap, mmap), (libc::SYS_mremap, mremap)]);
    if options.has(Defence::PageAdvice) {
        rules.insert(libc::SYS_madvise, vec![none_of(2, &ADVICE)?]);
    }
    Ok(rules)
}

/// `open` and `openat`, with the index of their flags. Older Landlock versions miss truncation by opening for reading. A file that
/// never has a name is not found in its folder.
fn open_rules(options: &SeccompOptions, flags: u8) -> Result<Vec<SeccompRule>, StepError> {
    let truncates = SeccompCmpOp::MaskedEq((libc::O_TRUNC | libc::O_ACCMODE) as u64);
    let mut rules = vec![low(flags, truncates, libc::O_TRUNC as u64)?];
    if options.has(Defence::DescriptorTables) {
        // The flag without `O_DIRECTORY`, which is a part of `O_TMPFILE`.
        let nameless = (libc::O_TMPFILE & !libc::O_DIRECTORY) as u64;
        rules.push(low(flags, SeccompCmpOp::MaskedEq(nameless), nameless)?);
    }
    Ok(rules)
}

/// What would keep the launcher from finding a bot's descriptors.
fn descriptor_rules(options: &SeccompOptions) -> Result<Rules, StepError> {
    if !options.has(Defence::DescriptorTables) {
        return Ok(Rules::new());
    }
    let own_table = low(2, SeccompCmpOp::MaskedEq(CLOSE_RANGE_UNSHARE), CLOSE_RANGE_UNSHARE)?;
    let mut rules = Rules::from([(libc::SYS_close_range, vec![own_table])]);
    if options.descriptors_are_listed {
        // A message can carry descriptors. While it waits to be received, no process has them.
        rules.insert(libc::SYS_sendmsg, Vec::new());
        rules.insert(libc::SYS_prctl, any_of(0, &[libc::PR_SET_DUMPABLE as u64])?);
    }
    Ok(rules)
}

/// The flag of `close_range` that gives a thread a descriptor table of its own.
const CLOSE_RANGE_UNSHARE: u64 = 2;

/// The bits of the flags of `clone` that hold the signal at the child's end.
const EXIT_SIGNAL: u64 = 0xff;

/// Advice about the process's own memory: none, sequential, unused, free, huge pages, dumps, populate. Missing: what reads files
/// ahead or drops their pages, what sends pages to the swap space, what shares equal pages, and what a fork inherits.
const ADVICE: [u64; 10] = [
    libc::MADV_NORMAL as u64,
    libc::MADV_SEQUENTIAL as u64,
    libc::MADV_DONTNEED as u64,
    libc::MADV_FREE as u64,
    libc::MADV_HUGEPAGE as u64,
    libc::MADV_NOHUGEPAGE as u64,
    libc::MADV_DONTDUMP as u64,
    libc::MADV_DODUMP as u64,
    libc::MADV_POPULATE_READ as u64,
    libc::MADV_POPULATE_WRITE as u64,
];

/// Flag of `clone`: a thread of this process.
const CLONE_THREAD: u64 = libc::CLONE_THREAD as u64;

/// `CLONE_NEW*`: time, mount, cgroup, host name, IPC, user, process, network.
const NEW_NAMESPACES: u64 =
    0x80 | 0x2_0000 | 0x200_0000 | 0x400_0000 | 0x800_0000 | 0x1000_0000 | 0x2000_0000 | 0x4000_0000;

/// Terminal queries (`isatty`), bytes available, non-blocking and close-on-exec. Everything else, above all `TIOCSTI`, is closed.
const IOCTLS: [u64; 7] = [
    libc::TCGETS,
    libc::TIOCGWINSZ,
    libc::TIOCGPGRP,
    libc::FIONREAD,
    libc::FIONBIO,
    libc::FIOCLEX,
    libc::FIONCLEX,
];

/// Names, dumpability, dropping privileges, naming memory, and queries. Huge pages stay switched off.
const PRCTLS: [u64; 12] = [
    libc::PR_GET_PDEATHSIG as u64,
    libc::PR_GET_DUMPABLE as u64,
    libc::PR_SET_DUMPABLE as u64,
    libc::PR_SET_NAME as u64,
    libc::PR_GET_NAME as u64,
    libc::PR_GET_SECCOMP as u64,
    libc::PR_SET_SECCOMP as u64,
    libc::PR_CAPBSET_READ as u64,
    libc::PR_GET_TIMERSLACK as u64,
    libc::PR_SET_NO_NEW_PRIVS as u64,
    libc::PR_GET_NO_NEW_PRIVS as u64,
    libc::PR_SET_VMA as u64,
];

#[cfg(target_arch = "x86_64")]
const FORKS: &[i64] = &[libc::SYS_fork, libc::SYS_vfork];
#[cfg(not(target_arch = "x86_64"))]
const FORKS: &[i64] = &[];

/// Duplicating descriptors, their flags, and queries.
const FCNTLS: [u64; 8] = [
    libc::F_DUPFD as u64,
    libc::F_DUPFD_CLOEXEC as u64,
    libc::F_GETFD as u64,
    libc::F_SETFD as u64,
    libc::F_GETFL as u64,
    libc::F_SETFL as u64,
    libc::F_GETPIPE_SZ as u64,
    libc::F_GET_SEALS as u64,
];

/// Flags that may not be set on an open file: they would apply to every process that has it open.
const FILE_FLAGS: [i32; 4] = [libc::O_APPEND, libc::O_ASYNC, libc::O_DIRECT, libc::O_NOATIME];

/// Calls that send signals. Another layer or the second filter restricts the receivers.
const SIGNALS: [i64; 7] = [
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_send_signal,
    libc::SYS_pidfd_open,
];
