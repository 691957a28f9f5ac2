"""Keeps state in its environment, working folder, limits, mask, name and priority.

Must happen: the next call does not find it (it would play CENTER)."""

import ctypes
import os
import resource
import signal

HOME = os.getcwd()


def get_action(state, match_history):
    name = ctypes.create_string_buffer(16)
    ctypes.CDLL(None).prctl(16, name, 0, 0, 0)
    remembered = (
        "KEPT" in os.environ
        or os.getcwd() != HOME
        or resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 60
        or signal.SIGUSR1 in signal.pthread_sigmask(signal.SIG_BLOCK, [])
        or name.value == b"kept"
        or signal.getitimer(signal.ITIMER_REAL)[0] > 0
    )
    os.environ["KEPT"] = "1"
    os.putenv("KEPT", "1")
    os.chdir("/usr/lib")
    resource.setrlimit(resource.RLIMIT_NOFILE, (60, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    ctypes.CDLL(None).prctl(15, b"kept", 0, 0, 0)
    signal.setitimer(signal.ITIMER_REAL, 100)
    return "CENTER" if remembered else "LEFT"
