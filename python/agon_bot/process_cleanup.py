"""What a process has left: descriptors, threads, children. (Imports little: see `stateless_session.py`.)"""

from __future__ import annotations

import os
import select

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Dict, List, Optional

# Kept under names of this module: a bot may replace the originals.
_waitpid, _kill, _read = os.waitpid, os.kill, os.read
PAGE_BYTES = 4096
SIGKILL = 9
MAX_KILL_ROUNDS = 1000
MAX_DESCRIPTOR = 1024
"""Descriptors have lower numbers: the sandbox allows fewer."""
MAX_RESULT_BYTES = 1 << 20
"""Longest text that a child returns. A bot can write to the pipe of its trial."""


def exit_description(status: int) -> str:
    """A wait status as text."""
    if os.WIFSIGNALED(status):
        import signal

        number = os.WTERMSIG(status)
        try:
            return f"killed by {signal.Signals(number).name}"
        except ValueError:  # most real-time signals have no name
            return f"killed by signal {number}"
    return f"exit code {os.WEXITSTATUS(status)}"


class OwnFigures:
    """What the kernel says about this process: its children, threads and mappings. The files are opened before the
    sandbox hides them, and closed before a bot's calls."""

    def __init__(self) -> None:
        self.files: Dict[str, int] = {}
        for name in ("status", "maps", "smaps", f"task/{os.getpid()}/children"):
            try:
                self.files[name.rpartition("/")[2]] = os.open(f"/proc/self/{name}", os.O_RDONLY | os.O_CLOEXEC)
            except OSError:  # there is no /proc
                pass

    def read(self, name: str) -> Optional[bytes]:
        """The content of a file; `None` if there is no such file."""
        if name not in self.files:
            return None
        os.lseek(self.files[name], 0, os.SEEK_SET)
        parts: List[bytes] = []
        while True:
            part = _read(self.files[name], 1 << 16)
            if not part:
                return b"".join(parts)
            parts.append(part)

    def close(self) -> None:
        """Closes the files."""
        for file in self.files.values():
            os.close(file)
        self.files.clear()

    def children(self) -> List[int]:
        """The process ids of all children."""
        return [int(word) for word in (self.read("children") or b"").split()]

    def thread_count(self) -> int:
        """The number of threads."""
        for line in (self.read("status") or b"").splitlines():
            if line.startswith(b"Threads:"):
                return int(line.split()[1])
        import _thread

        return 1 + _thread._count()

    def has_shared_memory(self) -> bool:
        """Whether there is a mapping that forks share and that could be made writable (`sh`), whatever access it has
        now. The file is long, and forks copy every page of memory that this touches, so only a part of it is in memory
        at a time."""
        if "smaps" not in self.files:
            return False
        os.lseek(self.files["smaps"], 0, os.SEEK_SET)
        rest = b""
        while True:
            part = _read(self.files["smaps"], PAGE_BYTES)
            lines = (rest + part).split(b"\n")
            rest = lines.pop()
            if any(line.startswith(b"VmFlags:") and b" sh" in line for line in lines):
                return True
            if not part:
                return False

    def kill_children(self) -> bool:
        """Kills and reaps all children, including orphans of a call (see `sandbox_enter.adopt_orphans`). Returns
        whether none is left."""
        for _ in range(MAX_KILL_ROUNDS):
            try:
                if _waitpid(-1, os.WNOHANG)[0] == 0:
                    for pid in self.children():
                        _kill(pid, SIGKILL)
                    _waitpid(-1, 0 if "children" in self.files else os.WNOHANG)
            except ChildProcessError:
                return True
            except OSError:  # a bot may not send signals
                return False
        return False


def kill_children() -> None:
    """The same, for a process that can open its figures now."""
    figures = OwnFigures()
    figures.kill_children()
    figures.close()


def open_descriptors() -> List[int]:
    """The open descriptors."""
    found = []
    for number in range(MAX_DESCRIPTOR):
        try:
            os.fstat(number)
            found.append(number)
        except OSError:
            pass
    return found


def read_until_exit(reader: int, child: int) -> bytes:
    """Reads what a child writes until it closes the pipe or ends, at most `MAX_RESULT_BYTES`, and closes the reader. A
    process that the child has left may hold the pipe open. A child that writes more gets an error."""
    poller = select.poll()
    pidfd = os.pidfd_open(child)
    poller.register(reader, select.POLLIN)
    poller.register(pidfd, select.POLLIN)
    data = b""
    while len(data) <= MAX_RESULT_BYTES:
        ready = [descriptor for descriptor, _ in poller.poll()]
        # What was written before the end is read first.
        chunk = os.read(reader, 1 << 16) if reader in ready else b""
        if not chunk:
            break
        data += chunk
    os.close(pidfd)
    os.close(reader)
    return data
