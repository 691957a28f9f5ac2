"""The template: a process that has loaded a bot, is stopped for good, and is copied for each game.

Every game starts as a copy of the same memory, because the template never runs again: the supervisor, its parent, holds
it in a ptrace stop and makes it execute one system call at a time, above all `clone`. So it does not matter what the
bot's file has done to its own process while it was loaded: no code of the bot runs in the template afterwards, and no
game can change what the next one starts with.

The supervisor never runs code of a bot. It imports little: see `stateless_session.py`.
"""

from __future__ import annotations

import ctypes
import os
import select

import _socket

from .proc_folder import ProcFolder, kill_until_none, read_all
from .process_cleanup import exit_description

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional, Tuple

    Names = Tuple[int, int, int, int, Tuple[int, ...]]

_libc = ctypes.PyDLL(None, use_errno=True)
_ptrace = _libc.ptrace
_ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
_ptrace.restype = ctypes.c_long
_waitpid = os.waitpid

CONT, SINGLESTEP, SYSCALL = 7, 9, 24
SETOPTIONS, GETEVENTMSG, GETREGSET, SETREGSET, SEIZE, INTERRUPT = 0x4200, 0x4201, 0x4204, 0x4205, 0x4206, 0x4207
EXITKILL, TRACE_NEW = 0x100000, 0x2 | 0x4 | 0x8
"""Options: the tracee dies with its tracer; it stops when it starts a process or a thread."""
GENERAL_REGISTERS = 1
WAIT_ALL = 0x40000000
SIGTRAP, SIGKILL = 5, 9
COPY_FLAGS = 0x01000000 | 0x00200000 | 17
"""For `clone`: set and clear the thread id as the C library's fork does, SIGCHLD at the end."""
PR_SET_DUMPABLE = 4
SYS_CLOSE_RANGE = 436
MAX_REPLY_BYTES = 64 << 10
"""Longest message that the supervisor accepts from a template."""
MAX_STOPS = 1000
"""Most stops that the supervisor handles while it waits for one of its own."""
LOADING_POLL_MS = 20

ARCHITECTURES: Dict[str, Any] = {
    # Number of registers; index of program counter, number of the call, result; arguments; length of the instruction;
    # numbers of clone and prctl.
    "x86_64": (27, 16, 10, 10, (14, 13, 12, 7, 9, 8), 2, 56, 157),
    "aarch64": (34, 32, 8, 0, (0, 1, 2, 3, 4, 5), 4, 220, 167),
}


class TemplateError(Exception):
    """The template cannot be made here, or has ended."""


class _Part(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


class Template:
    """The supervisor's side of a template."""

    def __init__(self, proc: ProcFolder, restrict: Callable[[], None], serve: Callable[[int], None]) -> None:
        """Forks the template. It calls `restrict`, and then `serve` with its end of the control socket."""
        self.proc = proc
        machine = os.uname().machine
        if machine not in ARCHITECTURES:
            raise TemplateError(f"calls cannot be separated on {machine}")
        count, self._counter, self._number, self._result, self._arguments, self._step, self._clone, self._prctl = (
            ARCHITECTURES[machine]
        )
        self._base = (ctypes.c_uint64 * count)()
        self._registers = (ctypes.c_uint64 * count)()
        self._fork = (ctypes.c_uint64 * count)()
        self._size = ctypes.sizeof(self._base)
        self._parts = [_Part(ctypes.addressof(one), self._size) for one in (self._base, self._registers, self._fork)]
        self._base_part, self._registers_part, self._fork_part = (ctypes.addressof(part) for part in self._parts)
        self.control, self.theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        self.frozen = False
        self.pid = os.fork()
        if self.pid == 0:
            self._become(restrict, serve)
        try:
            self._attach()
        except OSError as error:
            os.kill(self.pid, SIGKILL)
            raise TemplateError(f"the supervisor cannot hold the bot's process: {error}") from error

    def _become(self, restrict: Callable[[], None], serve: Callable[[int], None]) -> None:
        """In the template: keeps only the standard streams and its control socket, and waits until it is held."""
        try:
            control = self.theirs.fileno()
            os.closerange(3, control)
            os.closerange(control + 1, 1 << 16)
            # Only a process that may be dumped can be attached to.
            _libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
            os.write(control, b"ready")
            os.read(control, 1)
            _libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
            try:
                restrict()
            except Exception as error:
                os.write(control, f"{type(error).__name__}: {error}".encode()[:1000])
                os._exit(3)
            os.write(control, b"restricted")
            serve(control)
        finally:
            os._exit(3)

    def _attach(self) -> None:
        if self.control.recv(16) != b"ready":
            raise OSError(0, "it ended")
        self._trace(SEIZE, self.pid, 0, EXITKILL)
        outside = {inside: pid for pid, inside in self.proc.children(self.proc.own).items()}
        self.outside = outside.get(self.pid, 0)
        # Opened now: the kernel checks the right to read them only here.
        self._status, self._mappings, self._children = (
            self.proc.open(f"{self.outside}/{name}") for name in ("status", "smaps", f"task/{self.outside}/children")
        )
        self._own_children = self.proc.open(f"{self.proc.own}/task/{self.proc.own}/children")
        self.control.send(b"1")
        told = self.control.recv(MAX_REPLY_BYTES)
        if told != b"restricted":
            raise OSError(0, told.decode("utf-8", "replace") or "it ended")

    @staticmethod
    def _trace(request: int, pid: int, address: int = 0, data: Any = 0) -> None:
        if _ptrace(request, pid, address, data) < 0:
            number = ctypes.get_errno()
            raise OSError(number, f"ptrace: {os.strerror(number)}")

    def exchange(self, message: bytes) -> bytes:
        """Sends a message to a template that is not frozen yet. Returns its reply."""
        self.control.send(message)
        poller = select.poll()
        poller.register(self.control.fileno(), select.POLLIN)
        while not poller.poll(LOADING_POLL_MS):
            self._handle_stop()
        return bytes(self.control.recv(MAX_REPLY_BYTES))

    def _handle_stop(self) -> None:
        """A process that is held stops at each signal. Passes the signal on, if there is one."""
        pid, status = _waitpid(self.pid, os.WNOHANG | WAIT_ALL)
        if pid:
            self._continue(status)

    def _continue(self, status: int) -> None:
        if not os.WIFSTOPPED(status):
            raise TemplateError(exit_description(status))
        self._trace(CONT, self.pid, 0, 0 if status >> 16 else os.WSTOPSIG(status))

    def freeze(self) -> None:
        """Stops the template for good, at the point where it forks."""
        self._trace(INTERRUPT, self.pid)
        self._wait_stop()
        self._trace(SETOPTIONS, self.pid, 0, EXITKILL | TRACE_NEW)
        self.control.send(b"1")
        for _ in range(MAX_STOPS):
            self._trace(CONT, self.pid)
            event = self._wait_stop() >> 16
            if event in (1, 2, 3):  # fork, vfork, clone
                break
        else:
            raise TemplateError("it does not wait for its calls")
        first = ctypes.c_ulong()
        self._trace(GETEVENTMSG, self.pid, 0, ctypes.addressof(first))
        os.kill(first.value, SIGKILL)
        _waitpid(first.value, WAIT_ALL)
        self._trace(SYSCALL, self.pid)
        self._wait_stop()
        self._trace(SETOPTIONS, self.pid, 0, EXITKILL)
        self._trace(GETREGSET, self.pid, GENERAL_REGISTERS, self._base_part)
        self._base[self._counter] -= self._step
        ctypes.memmove(self._fork, self._base, self._size)
        self._prepare(self._fork, self._clone, COPY_FLAGS)
        self.frozen = True
        control = self.theirs.fileno()
        for first_number, last in ((0, 0), (3, control - 1), (control + 1, 0xFFFFFFFF)):
            self.inject(SYS_CLOSE_RANGE, first_number, last, 0)
        self.inject(self._prctl, PR_SET_DUMPABLE, 0, 0, 0, 0)

    def _prepare(self, registers: Any, number: int, *arguments: int) -> None:
        """Sets the registers for a system call. `clone` keeps its other arguments from the C library's own call."""
        registers[self._number] = number
        for place, value in zip(self._arguments, arguments):
            registers[place] = value
        if self._number == self._result:  # x86-64: no call is to be started again
            registers[15] = 0xFFFFFFFFFFFFFFFF

    def _wait_stop(self) -> int:
        """Waits until the template has stopped."""
        status = _waitpid(self.pid, WAIT_ALL)[1]
        if not os.WIFSTOPPED(status):
            raise TemplateError(exit_description(status))
        return status

    def inject(self, number: int, *arguments: int) -> int:
        """Makes the frozen template execute one system call. Returns its result."""
        ctypes.memmove(self._registers, self._base, self._size)
        self._prepare(self._registers, number, *arguments)
        return self._execute(self._registers_part)

    def _execute(self, registers: int) -> int:
        pid = self.pid
        for _ in range(MAX_STOPS):
            _ptrace(SETREGSET, pid, GENERAL_REGISTERS, registers)
            _ptrace(SINGLESTEP, pid, None, None)
            status = _waitpid(pid, WAIT_ALL)[1]
            if status == SIGTRAP << 8 | 0x7F:
                _ptrace(GETREGSET, pid, GENERAL_REGISTERS, self._registers_part)
                value = self._registers[self._result]
                return value if value < 1 << 63 else value - (1 << 64)
            if status & 0xFF != 0x7F:
                raise TemplateError(exit_description(status))
            # A signal came first. It is dropped.
        raise TemplateError("it gets too many signals")

    def copy(self) -> int:
        """Makes a copy, which runs at once. Returns its process id."""
        pid = self._execute(self._fork_part)
        if pid <= 0:
            raise TemplateError(f"cannot be copied: {os.strerror(-pid)}")
        return pid

    def problem(self) -> Optional[str]:
        """What a frozen template has that its copies would share, if there is anything. Kills its children first."""
        if not kill_until_none(self.children):
            return "starts a process while it is loaded"
        if b"\nThreads:\t1\n" not in read_all(self._status):
            return "starts a thread while it is loaded"
        mappings = read_all(self._mappings).splitlines()
        if any(line.startswith(b"VmFlags:") and b" sh" in line for line in mappings):
            return "makes shared memory while it is loaded"
        return None

    def children(self) -> List[int]:
        """The running children of the template, and those of the supervisor except the template."""
        found = [self.proc.describe(int(word)) for word in read_all(self._children).split()]
        own = [int(word) for word in read_all(self._own_children).split()]
        adopted = [self.proc.inside(pid) for pid in own if pid != self.outside]
        return [*(pid for pid, runs in found if runs), *adopted]
