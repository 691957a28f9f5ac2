"""The system calls that a stateless bot may not make, besides those that the sandbox refuses to every bot.

All of them reach something that outlives a call: the processes around it (signals), open files that calls share
(`shutdown`, locks), memory that calls share, and figures of other processes (processor clocks, `sysinfo`). Beside them
Landlock, which the sandbox refuses to all other bots: the host needs it until this filter is installed. That is before
the bot's file is opened, so a call cannot be without it.
"""

from __future__ import annotations

import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Dict, List, Tuple

    Condition = Tuple[int, int, int, bool]

LOAD, JUMP_EQUAL, JUMP_ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | 1
"""Allow; or answer EPERM."""
NUMBER, ARCHITECTURE = 0, 4
MAP_SHARED, MADV_DONTFORK, MADV_DOFORK, DYNAMIC_CLOCK, FUTEX_PRIVATE = 1, 10, 11, 0x80000000, 128
FUTEX_WAIT, FUTEX_WAIT_BITSET, FUTEX_REALTIME = 0, 9, 256

LANDLOCK = {"landlock_create_ruleset": 444, "landlock_add_rule": 445, "landlock_restrict_self": 446}
"""Each ruleset takes memory in the kernel. Every architecture has these numbers."""

NUMBERS: Dict[str, Tuple[int, Dict[str, int]]] = {
    "x86_64": (
        0xC000003E,
        {
            **{"kill": 62, "tkill": 200, "tgkill": 234, "rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297},
            **{"pidfd_send_signal": 424, "pidfd_open": 434, "shutdown": 48, "flock": 73, "sysinfo": 99},
            **{"mmap": 9, "mremap": 25, "madvise": 28, "futex": 202},
            **{"clock_gettime": 228, "clock_getres": 229, "clock_nanosleep": 230},
            **LANDLOCK,
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            **{"kill": 129, "tkill": 130, "tgkill": 131, "rt_sigqueueinfo": 138, "rt_tgsigqueueinfo": 240},
            **{"pidfd_send_signal": 424, "pidfd_open": 434, "shutdown": 210, "flock": 32, "sysinfo": 179},
            **{"mmap": 222, "mremap": 216, "madvise": 233, "futex": 98},
            **{"clock_gettime": 113, "clock_getres": 114, "clock_nanosleep": 115},
            **LANDLOCK,
        },
    ),
}
SIGNALS = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal", "pidfd_open")


def call_filter(without: Tuple[str, ...] = (), only: Tuple[str, ...] = ()) -> bytes:
    """The filter as an array of `sock_filter`: all of it, or `only` the rules for some calls. `without` names parts to
    leave out, which only tests do."""
    architecture, numbers = NUMBERS[os.uname().machine]
    code: List[bytes] = [
        _instruction(LOAD, ARCHITECTURE),
        _instruction(JUMP_EQUAL, architecture, 1, 0),
        _instruction(RETURN, REFUSE),
    ]
    for name, checks in _rules().items():
        if name in without or (name in SIGNALS and "signals" in without) or (only and name not in only):
            continue
        body = [*checks, _instruction(RETURN, REFUSE)]
        code += [_instruction(LOAD, NUMBER), _instruction(JUMP_EQUAL, numbers[name], 0, len(body)), *body]
    code.append(_instruction(RETURN, ALLOW))
    return b"".join(code)


def _rules() -> Dict[str, List[bytes]]:
    """For each call the instructions that allow some of its uses. What they do not allow is refused."""
    allow = _instruction(RETURN, ALLOW)
    rules: Dict[str, List[bytes]] = {name: [] for name in (*SIGNALS, *LANDLOCK, "shutdown", "flock", "sysinfo")}
    rules["mmap"] = [_argument(3), _instruction(JUMP_ANY_BIT, MAP_SHARED, 1, 0), allow]
    # With an old size of 0 it duplicates a shared mapping.
    old_size = [_argument(1), _instruction(JUMP_EQUAL, 0, 1, 0), allow]
    rules["mremap"] = [*old_size, _argument(1, high=True), _instruction(JUMP_EQUAL, 0, 1, 0), allow]
    advice = [_instruction(JUMP_EQUAL, MADV_DONTFORK, 2, 0), _instruction(JUMP_EQUAL, MADV_DOFORK, 1, 0)]
    rules["madvise"] = [_argument(2), *advice, allow]
    # The processor clock of another process.
    for name in ("clock_gettime", "clock_getres", "clock_nanosleep"):
        rules[name] = [_argument(0), _instruction(JUMP_ANY_BIT, DYNAMIC_CLOCK, 1, 0), allow]
    # A futex that is not private can be in a file that other bots read. The C library waits for threads so.
    waits = (FUTEX_WAIT, FUTEX_WAIT_BITSET, FUTEX_WAIT | FUTEX_REALTIME, FUTEX_WAIT_BITSET | FUTEX_REALTIME)
    private = [_argument(1), _instruction(JUMP_ANY_BIT, FUTEX_PRIVATE, len(waits), 0)]
    kinds = [_instruction(JUMP_EQUAL, kind, len(waits) - 1 - i, 0) for i, kind in enumerate(waits[:-1])]
    rules["futex"] = [*private, *kinds, _instruction(JUMP_EQUAL, waits[-1], 0, 1), allow]
    return rules


def _argument(index: int, high: bool = False) -> bytes:
    """Loads 32 bits of an argument (little-endian)."""
    return _instruction(LOAD, 16 + 8 * index + 4 * high)


def _instruction(code: int, operand: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, operand)
