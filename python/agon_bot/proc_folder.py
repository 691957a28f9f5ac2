"""What the kernel says about processes, through a `/proc` that was opened before the sandbox was entered: inside there
may be none. (Imports little: see `stateless_session.py`.)"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, Dict, List, Tuple

SIGKILL = 9
MAX_KILL_ROUNDS = 1000
KILL_INTERVAL = 0.0005
READ_BYTES = 1 << 16


class ProcFolder:
    """An open `/proc`. Process ids outside may differ from those inside: a process namespace has its own."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.own = self.link("self")

    def link(self, path: str) -> int:
        """The process id that a link names."""
        return int(os.readlink(path, dir_fd=self.descriptor))

    def open(self, path: str) -> int:
        """Opens a file for reading."""
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=self.descriptor)

    def read(self, path: str) -> bytes:
        """The content of a file; empty if it cannot be read."""
        try:
            file = self.open(path)
        except OSError:
            return b""
        try:
            return read_all(file)
        except OSError:
            return b""
        finally:
            os.close(file)

    def children(self, outside: int) -> Dict[int, int]:
        """The children of a process: ids inside, by ids outside."""
        words = self.read(f"{outside}/task/{outside}/children").split()
        return {pid: self.inside(pid) for pid in map(int, words)}

    def inside(self, outside: int) -> int:
        """The id that a process has inside its namespace; 0 if it is gone."""
        return self.describe(outside)[0]

    def describe(self, outside: int) -> Tuple[int, bool]:
        """The same, and whether the process runs: one that has ended stays until its parent looks."""
        inside, runs = 0, False
        for line in self.read(f"{outside}/status").splitlines():
            if line.startswith(b"NSpid:"):
                inside = int(line.split()[-1])
            elif line.startswith(b"State:"):
                runs = line.split()[1] not in (b"Z", b"X")
        return inside, runs


def read_all(file: int) -> bytes:
    """The content of an open file of `/proc`, from its start."""
    os.lseek(file, 0, os.SEEK_SET)
    parts: List[bytes] = []
    while True:
        part = os.read(file, READ_BYTES)
        if not part:
            return b"".join(parts)
        parts.append(part)


def kill_until_none(find: Callable[[], List[int]]) -> bool:
    """Kills processes until none is found. Returns whether that was reached."""
    for _ in range(MAX_KILL_ROUNDS):
        found = [pid for pid in find() if pid > 0]
        if not found:
            return True
        for pid in found:
            try:
                os.kill(pid, SIGKILL)
            except OSError:
                pass
            try:
                os.waitpid(pid, os.WNOHANG)
            except OSError:  # the child of another process
                pass
        time.sleep(KILL_INTERVAL)
    return False
