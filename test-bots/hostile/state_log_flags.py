"""Keeps state in a flag of its log: whether writing blocks. All calls write to the same log.

Must happen: the next call finds the flag as it was."""

import fcntl
import os

from attack import reached


def get_action(state, match_history):
    flags = {descriptor: fcntl.fcntl(descriptor, fcntl.F_GETFL) for descriptor in (1, 2)}
    if any(value & os.O_NONBLOCK for value in flags.values()):
        reached("a flag of the log", flags)
    for descriptor, value in flags.items():
        fcntl.fcntl(descriptor, fcntl.F_SETFL, value | os.O_NONBLOCK)
    return "LEFT"
