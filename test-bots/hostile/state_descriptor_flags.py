"""Keeps state in the flags of the descriptors that all calls share: a log that appends or does not.

Must happen: the next call does not find it (it would play CENTER)."""

import fcntl
import os


def get_action(state, match_history):
    flags = {}
    for descriptor in range(256):
        try:
            flags[descriptor] = fcntl.fcntl(descriptor, fcntl.F_GETFL)
        except OSError:
            pass
    remembered = any(value & os.O_APPEND for value in flags.values())
    for descriptor, value in flags.items():
        try:
            fcntl.fcntl(descriptor, fcntl.F_SETFL, value | os.O_APPEND)
        except OSError:
            pass
    return "CENTER" if remembered else "LEFT"
