//! What else the machine does while bots play.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// Busy processes per core.
const BUSY_PROCESSES_PER_CORE: usize = 4;
/// Processes per core that write to memory all the time.
const MEMORY_PROCESSES_PER_CORE: usize = 2;
/// Part of the free memory that all of them fill together, and its maximum.
const MEMORY_PART: u64 = 4;
const MAX_MEMORY: u64 = 4 << 30;
/// Seconds after which these processes end by themselves, whatever happens to the test.
const MAX_SECONDS: u32 = 600;

/// Copies a block of memory again and again, which takes the caches from all others. Every page is in use before it reports.
const FILL_MEMORY: &str = "
block = bytearray(b'x') * (SIZE // 2)
other = bytearray(block)
print(flush=True)
while goes_on():
    other[:] = block
    block[:] = other";

/// Writes a file and reads it again, which fills the page cache.
const FILL_PAGE_CACHE: &str = "
piece = b'x' * (1 << 20)
print(flush=True)
while goes_on():
    with open(FILE, 'w+b') as file:
        for _ in range(256): file.write(piece)
        file.seek(0)
        while file.read(1 << 20): pass";

/// Uses a core.
const BE_BUSY: &str = "
print(flush=True)
while goes_on():
    for i in range(100000): pass";

/// What else the machine does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Machine {
    /// Nothing.
    Idle,
    /// Four busy processes per core.
    Busy,
    /// Two processes per core that write to memory without end, and one that fills the page cache.
    FullMemory,
}

impl Machine {
    pub fn word(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Busy => "busy",
            Self::FullMemory => "full memory",
        }
    }
}

/// The other processes. They end when this is dropped, when their time is up, or when their parent is gone.
pub struct OtherProcesses {
    children: Vec<Child>,
    _folder: TempDir,
}

impl OtherProcesses {
    /// Starts them, and waits until each is at work.
    pub fn start(machine: Machine) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let programs = match machine {
            Machine::Idle => Vec::new(),
            Machine::Busy => vec![BE_BUSY.to_owned(); BUSY_PROCESSES_PER_CORE * cores],
            Machine::FullMemory => {
                let processes = MEMORY_PROCESSES_PER_CORE * cores;
                let size = (available_memory() / MEMORY_PART).min(MAX_MEMORY) / processes as u64;
                let mut programs = vec![format!("SIZE = {size}{FILL_MEMORY}"); processes];
                programs.push(format!("FILE = {:?}{FILL_PAGE_CACHE}", file_in(folder.path())));
                programs
            }
        };
        let mut children: Vec<Child> = programs.iter().map(|program| start(program)).collect();
        for child in &mut children {
            let mut line = String::new();
            BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        }
        Self { children, _folder: folder }
    }
}

fn file_in(folder: &Path) -> String {
    folder.join("cache").display().to_string()
}

/// Starts a Python program that can ask whether it should go on.
fn start(program: &str) -> Child {
    let prelude = format!(
        "import os, time\nend, parent = time.time() + {MAX_SECONDS}, os.getppid()\n\
         def goes_on(): return time.time() < end and os.getppid() == parent\n"
    );
    Command::new("python3")
        .args(["-c", &(prelude + program)])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Memory in bytes that is free or can be freed.
fn available_memory() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() << 10
}

impl Drop for OtherProcesses {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
