//! Limits on memory and disk in every situation in which a bot can be started: memory holds within a tenth, folders exactly where there
//! are namespaces. Each attack is shown to work when its defence is switched off.

#![allow(clippy::expect_used, clippy::print_stdout, reason = "tests")]

mod harness;

use std::fs;
use std::os::unix::fs::chown;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use agon_host::sandbox::{BotExit, Defence, LayerKind, Policy, Writable};

use harness::{Harness, Outcome, everywhere, is_root};

/// Limit of the memory in MiB, as the harness sets it.
const MEMORY: u64 = 256;
/// Limit of the kept folder in MiB.
const DATA: u64 = 64;

/// Programs report what they hold, and stop themselves at one and a half times the limit (memory) or four times (folders).
const PRELUDE: &str = r#"
DATA = os.path.join(os.path.dirname(SCRATCH), "data")
def held(mib, limit):
    print("HELD", int(mib), flush=True)
    if mib >= (4 if limit == 64 else 1.5) * limit:
        os._exit(0)
libc.mmap.restype = libc.mremap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
libc.mremap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int]
libc.msync.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]
def take(size, flags=0, protection=3):
    address = libc.mmap(None, size, protection, 0x22 | flags, -1, 0)
    if address == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "mmap")
    return address
"#;

/// What an attack fills.
#[derive(Clone, Copy)]
enum Target {
    Memory,
    Folder,
}

impl Target {
    /// Its limit in MiB.
    const fn limit(self) -> u64 {
        match self {
            Self::Memory => MEMORY,
            Self::Folder => DATA,
        }
    }
}

/// An attack, and the defences that stop it.
struct Attack {
    name: &'static str,
    code: &'static str,
    target: Target,
    defences: &'static [Defence],
    /// Whether the launcher kills the bot. Otherwise the attack is refused.
    killed: Option<BotExit>,
}

fn with_data(harness: &Harness, code: &str) -> Policy {
    let data = harness.path("data");
    let _ = fs::remove_dir_all(&data);
    fs::create_dir(&data).expect("make folder");
    if is_root() && !harness.situation.is_root() {
        chown(&data, Some(65534), Some(65534)).expect("chown");
    }
    let mut policy = harness.policy(&format!("{PRELUDE}{code}"));
    policy.writable.push(Writable { path: data, bytes: DATA << 20, kept: true });
    policy.limits.address_space = None;
    policy
}

/// The most that a program has reported, in MiB.
fn most(outcome: &Outcome) -> u64 {
    let reports = outcome.stdout.lines().filter_map(|line| line.strip_prefix("HELD ")?.parse().ok());
    reports.max().unwrap_or(0)
}

/// The most that a bot may hold, in per cent of its limit.
const MAX_PERCENT: u64 = 110;

/// Pins this thread to a core, and so the launcher and the bot, as in a game.
fn pin() {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let cores = agon_host::pinning::cores();
    agon_host::pinning::pin(cores[NEXT.fetch_add(1, Ordering::Relaxed) % cores.len()]);
}

fn holds(attack: &Attack) {
    pin();
    everywhere(|harness| {
        let (name, situation) = (attack.name, harness.situation);
        let outcome = harness.run_policy(&with_data(harness, attack.code));
        let held = most(&outcome);
        let has_namespaces = !situation.without().contains(&LayerKind::Namespaces);
        let (most_held, killed) = match attack.target {
            Target::Memory => (attack.target.limit() * MAX_PERCENT / 100, attack.killed.clone()),
            // The folder has a file system of its size. Writing fails, and with it the program.
            Target::Folder if has_namespaces => {
                (attack.target.limit(), attack.killed.as_ref().map(|_| BotExit::Exited(1)))
            }
            // The launcher measures, and runs when the scheduler lets it. The program would stop itself only later.
            Target::Folder => (u64::MAX, attack.killed.clone()),
        };
        assert!(held <= most_held, "{name} {situation:?}: {held} MiB {outcome:?}");
        let ended = match &outcome.ended {
            BotExit::FolderFull(_) => folder_full(),
            other => other.clone(),
        };
        assert_eq!(ended, killed.unwrap_or(BotExit::Exited(0)), "{name} {situation:?}: {outcome:?}");
        let mut policy = with_data(harness, attack.code);
        policy.weakened = attack.defences.to_vec();
        policy.weakened.push(Defence::ExactFolders);
        let open = harness.run_policy(&policy);
        let reached = most(&open);
        println!(
            "{name} {situation:?}: {reached} MiB of {} without its defence, {held} with it",
            attack.target.limit()
        );
        assert!(reached * 10 > attack.target.limit() * 11, "{name} {situation:?} is no attack: {open:?}");
    });
}

fn folder_full() -> BotExit {
    BotExit::FolderFull(PathBuf::new())
}

#[test]
fn memory_made_read_only_is_counted() {
    holds(&Attack {
        name: "read-only memory",
        code: r"
for count in range(1, 65):
    address = take(8 << 20)
    ctypes.memset(address, 1, 8 << 20)
    libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(8 << 20), 1)
    held(count * 8, 256)
",
        target: Target::Memory,
        defences: &[Defence::MemoryCount],
        killed: Some(BotExit::TooMuchMemory),
    });
}

#[test]
fn mapping_that_grows_like_a_stack_is_refused() {
    holds(&Attack {
        name: "growing stack",
        code: r"
try:
    for count in range(1, 65):
        ctypes.memset(take(8 << 20, 0x100), 1, 8 << 20)
        held(count * 8, 256)
except OSError:
    pass
",
        target: Target::Memory,
        defences: &[Defence::MappingFlags, Defence::MemoryCount],
        killed: None,
    });
}

#[test]
fn enlarged_copy_of_the_stack_is_counted() {
    holds(&Attack {
        name: "copy of the stack",
        code: r"
libc.getauxval.restype = ctypes.c_ulong
page = libc.getauxval(31) & ~4095
while libc.msync(page + 4096, 4096, 1) == 0:
    page += 4096
address, size, step = page, 4096, 8 << 20
for count in range(1, 65):
    address = libc.mremap(address, size, count * step, 1)
    size = count * step
    ctypes.memset(address + size - step + 4096, 1, step - 4096)
    held(count * 8, 256)
",
        target: Target::Memory,
        defences: &[Defence::MemoryCount],
        killed: Some(BotExit::TooMuchMemory),
    });
}

#[test]
fn pages_that_a_fork_no_longer_shares_are_counted() {
    holds(&Attack {
        name: "writes of a fork",
        code: r#"
taken = bytearray(b"x") * (200 << 20)
if os.fork() == 0:
    for place in range(0, len(taken), 4096):
        taken[place] = 1
        if place % (4 << 20) == 0:
            held(200 + (place >> 20), 256)
    os._exit(0)
os.wait()
"#,
        target: Target::Memory,
        defences: &[Defence::ForkedMemory],
        killed: Some(BotExit::TooMuchMemory),
    });
}

#[test]
fn page_tables_are_counted() {
    holds(&Attack {
        name: "page tables",
        code: r"
for count in range(1, 129):
    address = take(2 << 30, 0x4000, 1)
    for place in range(0, 2 << 30, 2 << 20):
        ctypes.string_at(address + place, 1)
    held(count * 4, 256)
",
        target: Target::Memory,
        defences: &[Defence::PageTables],
        killed: Some(BotExit::TooMuchMemory),
    });
}

#[test]
fn space_cannot_be_reserved() {
    holds(&Attack {
        name: "reserved space",
        code: r#"
for count in range(1, 5):
    file = os.open(DATA + "/reserved%d" % count, os.O_CREAT | os.O_RDWR)
    if libc.fallocate(file, 1, 0, 32 << 20) == 0:
        held(count * 32, 64)
"#,
        target: Target::Folder,
        defences: &[Defence::Blocks],
        killed: None,
    });
}

#[test]
fn deleted_files_that_are_open_are_counted() {
    holds(&Attack {
        name: "deleted files",
        code: r#"
for count in range(1, 129):
    file = os.open(DATA + "/gone", os.O_CREAT | os.O_RDWR)
    os.unlink(DATA + "/gone")
    os.write(file, bytes(4 << 20))
    held(count * 4, 64)
"#,
        target: Target::Folder,
        defences: &[Defence::DeletedFiles],
        killed: Some(folder_full()),
    });
}

#[test]
fn deleted_files_that_are_mapped_are_counted() {
    holds(&Attack {
        name: "deleted and mapped files",
        code: r#"
for count in range(1, 240):
    file = os.open(DATA + "/gone", os.O_CREAT | os.O_RDWR)
    os.write(file, bytes(1 << 20))
    libc.mmap(None, 4096, 1, 1, file, 0)
    os.close(file)
    os.unlink(DATA + "/gone")
    held(count, 64)
"#,
        target: Target::Folder,
        defences: &[Defence::DeletedFiles],
        killed: Some(folder_full()),
    });
}

#[test]
fn fast_writes_are_measured_in_time() {
    holds(&Attack {
        name: "fast writes",
        code: r#"
piece = bytes(1 << 20)
for count in range(1, 1000):
    file = os.open(DATA + "/fast%d" % (count // 16), os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    os.write(file, piece)
    os.close(file)
    held(count, 64)
"#,
        target: Target::Folder,
        defences: &[Defence::FolderPace],
        killed: Some(folder_full()),
    });
}

#[test]
fn file_with_several_names_counts_once() {
    everywhere(|harness| {
        let code = r#"
with open(DATA + "/file", "wb") as file:
    file.write(bytes(4 << 20))
try:
    for count in range(8):
        os.link(DATA + "/file", DATA + "/link%d" % count)
except OSError:
    pass
time.sleep(0.5)
print("played")
"#;
        let outcome = harness.run_policy(&with_data(harness, code));
        assert_eq!(outcome.ended, BotExit::Exited(0), "{:?} {outcome:?}", harness.situation);
    });
}

#[test]
fn data_within_the_quota_can_be_written_replaced_and_removed() {
    everywhere(|harness| {
        let code = r#"
for count in range(40):
    with open(DATA + "/next", "wb") as file:
        file.write(bytes(4 << 20))
    os.replace(DATA + "/next", DATA + "/state")
    with open(DATA + "/old%d" % count, "wb") as file:
        file.write(bytes(1 << 20))
    os.remove(DATA + "/old%d" % count)
print("played")
"#;
        let outcome = harness.run_policy(&with_data(harness, code));
        assert_eq!(outcome.stdout, "played\n", "{:?} {outcome:?}", harness.situation);
    });
}
