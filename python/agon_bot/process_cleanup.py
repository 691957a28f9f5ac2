"""What a process has left: descriptors, threads, children. (Imports little: see `stateless_session.py`.)"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import List

# Kept under names of this module: a bot may replace the originals.
_waitpid, _kill = os.waitpid, os.kill
SIGKILL = 9


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


def kill_children() -> None:
    """Kills and reaps all children, including orphans of a call (see `sandbox_enter.adopt_orphans`)."""
    for _ in range(1000):
        try:
            if _waitpid(-1, os.WNOHANG)[0] == 0:
                for pid in children():
                    _kill(pid, SIGKILL)
                _waitpid(-1, 0)
        except ChildProcessError:
            return


def children() -> List[int]:
    """The process ids of all children."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", "rb") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def open_descriptors() -> List[int]:
    """The open descriptors."""
    found = []
    for number in [int(name) for name in os.listdir("/proc/self/fd")] if os.path.isdir("/proc/self/fd") else range(256):
        try:
            os.fstat(number)  # fails for the descriptor of the listing itself
            found.append(number)
        except OSError:
            pass
    return found


def thread_count() -> int:
    """The number of threads of this process."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        import threading

        return threading.active_count()


def has_shared_memory(except_at: int = 0) -> bool:
    """Whether the process has a writable mapping that it shares with forks, besides the one at this address."""
    known = b"%x" % except_at
    try:
        with open("/proc/self/maps", "rb") as file:
            rows = [line.split(None, 2)[:2] for line in file]
            return any(rights == b"rw-s" and place.partition(b"-")[0] != known for place, rights in rows)
    except OSError:
        return False


def read_and_close(descriptor: int) -> bytes:
    """Everything that a child writes to a pipe until it closes its end."""
    data = b""
    while True:
        chunk = os.read(descriptor, 1 << 16)
        if not chunk:
            os.close(descriptor)
            return data
        data += chunk
