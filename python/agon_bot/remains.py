"""What is left of a process's work: descriptors, threads, children. (Imports little: see `lean.py`.)"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import List

# Kept by name: a bot may replace them where it finds them.
_waitpid, _kill = os.waitpid, os.kill
SIGKILL = 9


def how_it_ended(status: int) -> str:
    """A wait status in words."""
    if os.WIFSIGNALED(status):
        import signal

        number = os.WTERMSIG(status)
        try:
            return f"killed by {signal.Signals(number).name}"
        except ValueError:  # most of those for real time have no name
            return f"killed by signal {number}"
    return f"exit code {os.WEXITSTATUS(status)}"


def end_children() -> None:
    """Kills and reaps every child that is left (orphans of a call come here: see `enter.adopt_orphans`)."""
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
    """The descriptors open now."""
    found = []
    for number in [int(name) for name in os.listdir("/proc/self/fd")] if os.path.isdir("/proc/self/fd") else range(256):
        try:
            os.fstat(number)  # the listing's own descriptor is closed by now
            found.append(number)
        except OSError:
            pass
    return found


def threads() -> int:
    """How many threads this process has."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        import threading

        return threading.active_count()


def shared_memory() -> bool:
    """Whether a writable mapping is shared with forks."""
    try:
        with open("/proc/self/maps", "rb") as file:
            return any(line.split(None, 2)[1] == b"rw-s" for line in file)
    except OSError:
        return False
