"""Puts this process into its sandbox before it reads any byte of a bot.

A child of the zygote calls `enter(request)`. The request is plain data from the host, which makes all decisions:

| key | meaning |
|---|---|
| `environment` | the whole environment, replaced |
| `folder` | working directory |
| `limits` | `{"NPROC": 64, ...}` by the names of the `resource` module, without `RLIMIT_` |
| `user` | `[user, group]` to become; supplementary groups are dropped |
| `dumpable` | lets the host look into the process; `/proc` must be closed to the bot then |
| `huge_pages` | if false, the process gets no huge pages |
| `drop` | gives up every capability permanently |
| `landlock` | `files`, `network`, `scopes`: denied rights as bits; `rules`: allowed `[path, bits]`; `proc`: one more, if it exists |
| `seccomp` | filters (arrays of `sock_filter`, hexadecimal) in order; the number `own` in them stands for this process |

Always: `no_new_privs`, no core dumps, not dumpable unless requested. A layer that cannot be applied raises `EnterError`. A bot never
runs with fewer restrictions than requested.
"""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import struct

from .call_filter import call_filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterable, List, Optional, Tuple

_libc = ctypes.CDLL(None, use_errno=True)

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER = 1, 4, 22, 24, 36
PR_SET_NO_NEW_PRIVS, PR_SET_THP_DISABLE, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 38, 41, 47, 4
LAST_CAPABILITY = 63
CAPABILITY_VERSION_3 = 0x20080522
SECCOMP_MODE_FILTER = 2
# The same numbers on every architecture.
SYS_LANDLOCK_CREATE, SYS_LANDLOCK_ADD, SYS_LANDLOCK_RESTRICT = 444, 445, 446
SYS_CLONE3, CLONE_INTO_CGROUP = 435, 0x200000000

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
FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
"""Rights that can be allowed on a single file; the others are for folders."""
WRITE_RIGHTS = WRITE_FILE | MAKE_AND_REMOVE | REFER | TRUNCATE


class EnterError(Exception):
    """A restriction could not be applied."""


class _Ruleset(ctypes.Structure):
    _fields_ = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def enter(request: Dict[str, Any]) -> None:
    """Applies all restrictions of a request, the strictest last. They cannot be undone."""
    try:
        environment = request.get("environment")
        if environment is not None:
            os.environ.clear()
            os.environ.update({str(k): str(v) for k, v in environment.items()})
        set_limits({"CORE": 0, **(request.get("limits") or {})})
        if request.get("drop"):
            give_up_privileges(request.get("user"))
        _prctl(PR_SET_NO_NEW_PRIVS, 1)
        if not request.get("huge_pages", True):
            _switch_huge_pages_off()
        # After the change of user, which resets both settings.
        _prctl(PR_SET_DUMPABLE, 1 if request.get("dumpable") else 0)
        if request.get("namespaces") is None:
            # In its own namespaces it ends with their first process.
            die_with_parent()
        if request.get("folder"):
            os.chdir(request["folder"])
        if request.get("landlock"):
            apply_ruleset(_make_ruleset(**request["landlock"]))
        os.umask(0o077)
        filters = [bytes.fromhex(text) for text in request.get("seccomp") or ()]
        for code in filters:
            install_seccomp_filter(_for_this_process(code, request.get("own")))
    except Exception as error:
        raise EnterError(f"{type(error).__name__}: {error}") from error


def _switch_huge_pages_off() -> None:
    try:
        _prctl(PR_SET_THP_DISABLE, 1)
    except OSError:
        pass  # a kernel without huge pages


def restrict_call(request: Dict[str, Any]) -> None:
    """Applies the further restrictions of a stateless bot in a process that is in its sandbox: no files are written,
    nothing is read about processes, and nothing is set that outlives a call. `without` in the request names defences to
    leave out, which only tests do."""
    global _writing_is_forbidden
    try:
        landlock, without = request.get("landlock"), tuple(request.get("without") or ())
        if landlock and "proc" not in without:
            readable = READ_FILE | READ_DIR
            rules = [(path, bits & readable) for path, bits in landlock["rules"] if bits & readable]
            apply_ruleset(_ruleset(WRITE_RIGHTS | readable, [*rules, (os.devnull, FILE_RIGHTS)], closed=False))
            _writing_is_forbidden = True
        else:
            forbid_writing()
        if "filter" not in without:
            _prctl(PR_SET_NO_NEW_PRIVS, 1)
            install_seccomp_filter(call_filter(without))
    except Exception as error:
        raise EnterError(f"{type(error).__name__}: {error}") from error


def forbid_calls(names: Tuple[str, ...]) -> None:
    """Forbids the uses of these system calls that `call_filter.py` names."""
    _prctl(PR_SET_NO_NEW_PRIVS, 1)
    install_seccomp_filter(call_filter(only=names))


def setns(pidfd: int, kinds: int) -> None:
    """Enters the namespaces of the process behind a pidfd. For the PID namespace this applies to children only."""
    if _libc.setns(ctypes.c_int(pidfd), ctypes.c_int(kinds)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"setns: {os.strerror(number)}")


def fork_into(group: int) -> int:
    """Forks, and starts the child in the version 2 cgroup behind a descriptor. Returns what `fork` returns; -1 if the
    kernel is too old. Only for a process with one thread, and for a child that soon forks again or ends."""
    words = (ctypes.c_uint64 * 11)(CLONE_INTO_CGROUP, 0, 0, 0, 17, 0, 0, 0, 0, 0, group)
    # Not `_libc`, which lets other threads run meanwhile.
    return int(ctypes.PyDLL(None).syscall(ctypes.c_long(SYS_CLONE3), ctypes.byref(words), ctypes.c_size_t(88)))


def give_up_privileges(user: Optional[List[int]]) -> None:
    """Changes the user permanently and gives up all capabilities."""
    try:
        _prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    except OSError:
        pass
    for capability in range(LAST_CAPABILITY + 1):
        try:
            _prctl(PR_CAPBSET_DROP, capability)
        except OSError as error:
            # Without the right to drop capabilities, this process cannot pass any on either.
            if error.errno == errno.EINVAL:
                break  # the first one that this kernel does not know
    if user is not None:
        os.setgroups([])
        os.setresgid(user[1], user[1], user[1])
        os.setresuid(user[0], user[0], user[0])
    header = struct.pack("Ii", CAPABILITY_VERSION_3, 0)
    if _libc.capset(header, bytes(24)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"capset: {os.strerror(number)}")


def _for_this_process(code: bytes, own: Optional[int]) -> bytes:
    """A filter in which the number `own` is replaced by the id of this process."""
    if own is None:
        return code
    sought, mine, found = struct.pack("=I", own), struct.pack("=I", os.getpid()), bytearray(code)
    place = code.find(sought)
    while place >= 0:
        # An instruction is 8 bytes; its operand is the last 4 of them.
        if place % 8 == 4:
            found[place : place + 4] = mine
        place = code.find(sought, place + 1)
    return bytes(found)


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


def set_limits(limits: Dict[str, int]) -> None:
    """Sets resource limits by name, soft and hard. A limit that is lower already stays."""
    for name, most in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        already = resource.getrlimit(kind)[1]
        most = most if already == resource.RLIM_INFINITY else min(most, already)
        resource.setrlimit(kind, (most, most))


def die_with_parent() -> None:
    """Has the kernel kill this process when its parent ends, so that no bot survives the host."""
    parent = os.getppid()
    _prctl(PR_SET_PDEATHSIG, 9)
    if os.getppid() != parent:
        os._exit(0)


def adopt_orphans() -> None:
    """Makes this process the parent of grandchildren whose parent ends, so that it can kill them. A sandbox may forbid
    this; then the sandbox kills them."""
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


def _supported(rights: int, version: int) -> int:
    """The rights that this kernel knows."""
    for since, right in ((2, REFER), (3, TRUNCATE), (5, IOCTL_DEV)):
        if version < since:
            rights &= ~right
    return rights


def _ruleset(rights: int, allowed: Iterable[Tuple[str, int]], closed: bool) -> int:
    """Makes a ruleset that denies rights and allows some of them below some paths. `closed` also denies TCP, and
    signals and abstract sockets to processes outside, if the kernel can do that."""
    version = landlock_version()
    if version < 1:
        raise OSError(0, "the kernel has no Landlock")
    attributes = _Ruleset(
        _supported(rights, version), 3 if closed and version >= 4 else 0, 3 if closed and version >= 6 else 0
    )
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    rules = _syscall(SYS_LANDLOCK_CREATE, ctypes.byref(attributes), ctypes.c_size_t(size), ctypes.c_uint32(0))
    for path, wanted in allowed:
        wanted = _supported(wanted & rights, version)
        _allow(rules, path, wanted if os.path.isdir(path) else wanted & FILE_RIGHTS)
    return rules


def _make_ruleset(
    files: int, network: int, scopes: int, rules: List[List[Any]], proc: Optional[List[Any]]
) -> int:
    """Makes the ruleset that the host has computed."""
    version = landlock_version()
    attributes = _Ruleset(files, network, scopes)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    made = _syscall(SYS_LANDLOCK_CREATE, ctypes.byref(attributes), ctypes.c_size_t(size), ctypes.c_uint32(0))
    for path, bits in rules:
        _allow(made, path, bits)
    if proc and os.path.exists(f"{proc[0]}/self"):
        _allow(made, *proc)
    return made


def _allow(rules: int, path: str, bits: int) -> None:
    parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    rule = _PathBeneath(bits, parent)
    _syscall(SYS_LANDLOCK_ADD, ctypes.c_int(rules), ctypes.c_int(1), ctypes.byref(rule), ctypes.c_uint32(0))
    os.close(parent)


def apply_ruleset(rules: int) -> None:
    """Applies a ruleset to this process."""
    _syscall(SYS_LANDLOCK_RESTRICT, ctypes.c_int(rules), ctypes.c_uint32(0))
    os.close(rules)


def install_seccomp_filter(code: bytes) -> None:
    """Applies a seccomp filter to this process."""
    if not code or len(code) % 8:
        raise ValueError("a seccomp filter is an array of 8-byte instructions")
    buffer = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(code) // 8, ctypes.cast(buffer, ctypes.c_void_p).value)
    _prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program))


_writing_is_forbidden = False


def forbid_writing() -> bool:
    """Forbids to write, make, rename and remove files, except `/dev/null`. Without Landlock it only limits the size of
    files to 0. Returns whether Landlock was used. Does nothing where writing is forbidden already: `restrict_call`
    refuses further rules."""
    global _writing_is_forbidden
    if _writing_is_forbidden:
        return True
    try:
        _prctl(PR_SET_NO_NEW_PRIVS, 1)
        apply_ruleset(_ruleset(WRITE_RIGHTS, [(os.devnull, WRITE_FILE | TRUNCATE)], closed=False))
        _writing_is_forbidden = True
        return True
    except OSError:
        set_limits({"FSIZE": 0})
        return False


def trim_heap() -> None:
    """Returns freed memory to the system, if the C library can: a fork then shares less."""
    try:
        _libc.malloc_trim(ctypes.c_size_t(0))
    except AttributeError:
        pass
