"""Keeps state in a flag of every descriptor that it has: whether reading and writing block.

Must happen: the next call does not find it."""

import fcntl
import os

from attack import reached


def get_action(state, match_history):
    flags = {}
    for descriptor in range(3, 1024):
        try:
            flags[descriptor] = fcntl.fcntl(descriptor, fcntl.F_GETFL)
        except OSError:
            pass
    if any(value & os.O_NONBLOCK for value in flags.values()):
        reached("a flag of a descriptor", flags)
    for descriptor, value in flags.items():
        try:
            fcntl.fcntl(descriptor, fcntl.F_SETFL, value | os.O_NONBLOCK)
        except OSError:
            pass
    return "LEFT"
