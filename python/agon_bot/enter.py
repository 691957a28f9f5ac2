"""Walls around this process, put up before any byte of a bot is read.

`enter(policy)` is what a child of the warm parent calls. The policy is plain data from the host, so that this file
decides nothing:

| key | meaning |
|---|---|
| `environment` | the whole environment, replaced |
| `folder` | working directory |
| `rlimits` | `{"NPROC": 64, "AS": [soft, hard], ...}` by the names of the `resource` module, without `RLIMIT_` |
| `user`, `group` | numbers to become; supplementary groups are dropped |
| `landlock` | `{"read": [...], "write": [...], "execute": [...], "required": bool}`: all other paths are closed |
| `seccomp` | a compiled filter (an array of `sock_filter`), base64 |

Always: `no_new_privs`, no core dumps, and the process dies with its parent. A layer that cannot be put up raises
`EnterError`; a bot is never run with less than was asked for.
"""

from __future__ import annotations

import binascii
import ctypes
import os
import resource
import signal
from typing import Any, Dict, Iterable, List, Optional, Tuple, Union

_libc = ctypes.CDLL(None, use_errno=True)

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 36, 38
SECCOMP_MODE_FILTER = 2
# The same numbers on every architecture.
SYS_LANDLOCK_CREATE, SYS_LANDLOCK_ADD, SYS_LANDLOCK_RESTRICT = 444, 445, 446

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, REFER, TRUNCATE, IOCTL_DEV = (
    1 << 0,
    1 << 1,
    1 << 2,
    1 << 3,
    1 << 13,
    1 << 14,
    1 << 15,
)
MAKE_AND_REMOVE = sum(1 << bit for bit in range(4, 13))
FOR_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
"""What can be allowed on a single file; the rest is about folders."""
WRITING = WRITE_FILE | MAKE_AND_REMOVE | REFER | TRUNCATE


class EnterError(Exception):
    """A wall could not be put up."""


class _Ruleset(ctypes.Structure):
    _fields_ = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def enter(policy: Dict[str, Any]) -> None:
    """Puts up all walls of a policy, the narrowest last. There is no way back."""
    try:
        if "environment" in policy:
            os.environ.clear()
            os.environ.update({str(k): str(v) for k, v in policy["environment"].items()})
        if policy.get("folder"):
            os.chdir(policy["folder"])
        set_limits({"CORE": 0, **policy.get("rlimits", {})})
        _prctl(PR_SET_NO_NEW_PRIVS, 1)
        rules = landlock_rules(**policy["landlock"]) if policy.get("landlock") else None
        become(policy.get("user"), policy.get("group"))
        # Changing the user clears these two.
        _prctl(PR_SET_DUMPABLE, 0)
        die_with_parent()
        if rules is not None:
            restrict(rules)
        if policy.get("seccomp"):
            filter_calls(binascii.a2b_base64(policy["seccomp"]))
    except Exception as error:
        raise EnterError(f"{type(error).__name__}: {error}") from error


def _prctl(option: int, value: int, more: Any = 0) -> None:
    unsigned = ctypes.c_ulong
    if _libc.prctl(option, unsigned(value), more if more else unsigned(0), unsigned(0), unsigned(0)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl {option}: {os.strerror(number)}")


def _syscall(number: int, *arguments: Any) -> int:
    result = _libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return int(result)


def set_limits(limits: Dict[str, Union[int, List[int]]]) -> None:
    """Resource limits by name. One number stands for both the soft and the hard limit; -1 is none."""
    for name, value in limits.items():
        soft, hard = value if isinstance(value, (list, tuple)) else (value, value)
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (soft, hard))


def become(user: Optional[int], group: Optional[int]) -> None:
    """Another user for good."""
    if group is not None:
        if os.geteuid() == 0:
            os.setgroups([])
        os.setresgid(group, group, group)
    if user is not None:
        os.setresuid(user, user, user)


def die_with_parent() -> None:
    """Killed when the process that forked this one ends, so that nothing survives the host."""
    parent = os.getppid()
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def adopt_orphans() -> None:
    """Grandchildren whose parent ends come to this process, which can then end them too. A sandbox may forbid it:
    then it sees to them itself."""
    try:
        _prctl(PR_SET_CHILD_SUBREAPER, 1)
    except OSError:
        pass


def landlock_version() -> int:
    """The kernel's Landlock ABI, 0 without Landlock."""
    try:
        return _syscall(SYS_LANDLOCK_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    except OSError:
        return 0


def _known(rights: int, version: int) -> int:
    """The rights this kernel can handle."""
    for since, right in ((2, REFER), (3, TRUNCATE), (5, IOCTL_DEV)):
        if version < since:
            rights &= ~right
    return rights


def _ruleset(rights: int, allowed: Iterable[Tuple[str, int]], closed: bool) -> int:
    """A rule set that handles these rights and allows some of them below some paths. `closed`: also no TCP, and no
    signals or abstract sockets to processes outside, where the kernel can do that."""
    version = landlock_version()
    if version < 1:
        raise OSError(0, "the kernel has no Landlock")
    attributes = _Ruleset(
        _known(rights, version), 3 if closed and version >= 4 else 0, 3 if closed and version >= 6 else 0
    )
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    rules = _syscall(SYS_LANDLOCK_CREATE, ctypes.byref(attributes), ctypes.c_size_t(size), ctypes.c_uint32(0))
    for path, wanted in allowed:
        try:
            parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        wanted = _known(wanted & rights, version)
        if not os.path.isdir(path):
            wanted &= FOR_FILES
        rule = _PathBeneath(wanted, parent)
        _syscall(SYS_LANDLOCK_ADD, ctypes.c_int(rules), ctypes.c_int(1), ctypes.byref(rule), ctypes.c_uint32(0))
        os.close(parent)
    return rules


def landlock_rules(
    read: Iterable[str] = (), write: Iterable[str] = (), execute: Iterable[str] = (), required: bool = True
) -> Optional[int]:
    """The rule set of a policy: only these paths stay usable. `None` if the kernel has no Landlock and it is not
    required."""
    if landlock_version() < 1 and not required:
        return None
    look = READ_FILE | READ_DIR
    allowed = [(path, look) for path in read]
    allowed += [(path, look | WRITING | IOCTL_DEV) for path in write]
    allowed += [(path, look | EXECUTE) for path in execute]
    return _ruleset(look | EXECUTE | WRITING | IOCTL_DEV, allowed, closed=True)


def restrict(rules: int) -> None:
    """Puts a rule set into force."""
    _syscall(SYS_LANDLOCK_RESTRICT, ctypes.c_int(rules), ctypes.c_uint32(0))
    os.close(rules)


def filter_calls(code: bytes) -> None:
    """Puts a seccomp filter into force."""
    if not code or len(code) % 8:
        raise ValueError("a seccomp filter is an array of 8-byte instructions")
    buffer = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(code) // 8, ctypes.cast(buffer, ctypes.c_void_p).value)
    _prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program))


def forbid_writing() -> bool:
    """From now on no file can be written, made, renamed or removed, `/dev/null` excepted. Without Landlock only the
    size of files is held to 0. Says whether it was Landlock."""
    try:
        _prctl(PR_SET_NO_NEW_PRIVS, 1)
        restrict(_ruleset(WRITING, [(os.devnull, WRITE_FILE | TRUNCATE)], closed=False))
        return True
    except OSError:
        set_limits({"FSIZE": 0})
        return False
