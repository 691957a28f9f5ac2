"""Keeps state in the signals that wait for the process that forked it: it blocks a signal while it is loaded, sends it
to that process many times in a call, and finds out with its own limit how many wait.

Must happen: no call can send a signal, so the next call does not find any."""

import ctypes
import os
import resource
import signal

from attack import reached

SENT = signal.SIGRTMIN + 5
COUNT = 300
libc = ctypes.CDLL(None, use_errno=True)
signal.pthread_sigmask(signal.SIG_BLOCK, {SENT})


def waiting():
    """How many signals wait for processes of this user, about. Queued signals count for the receiver's user."""
    most = resource.getrlimit(resource.RLIMIT_SIGPENDING)[1]
    low, high = 0, 1 << 16 if most == resource.RLIM_INFINITY else min(1 << 16, most)
    while low < high:
        middle = (low + high) // 2
        resource.setrlimit(resource.RLIMIT_SIGPENDING, (middle, most))
        if libc.sigqueue(os.getpid(), SENT, ctypes.c_void_p(0)) == 0:
            high = middle
        else:
            low = middle + 1
    resource.setrlimit(resource.RLIMIT_SIGPENDING, (most, most))
    return low


AT_FIRST = waiting()


def get_action(state, match_history):
    more = waiting() - AT_FIRST
    if COUNT // 2 < more < 10 * COUNT:
        reached("signals that wait", more)
    for _ in range(COUNT):
        libc.sigqueue(os.getppid(), SENT, ctypes.c_void_p(0))
    return "LEFT"
