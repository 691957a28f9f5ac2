"""Keeps state in the size of a pipe that all calls share.

Must happen: the next call does not find it (it would play CENTER)."""

import fcntl

SIZE = 16384
GET, SET = 1032, 1031


def get_action(state, match_history):
    sizes = {}
    for descriptor in range(256):
        try:
            sizes[descriptor] = fcntl.fcntl(descriptor, GET)
        except OSError:
            pass
    for descriptor in sizes:
        try:
            fcntl.fcntl(descriptor, SET, SIZE)
        except OSError:
            pass
    return "CENTER" if SIZE in sizes.values() else "LEFT"
