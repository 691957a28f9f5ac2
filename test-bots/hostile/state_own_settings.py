"""Keeps state in everything that belongs to its own process: timers, signal masks, a robust list, the name, limits, the
mask for new files, the working folder, memory advice.

Must happen: it ends with the call."""

import ctypes
import os
import resource
import signal

from attack import reached

libc = ctypes.CDLL(None, use_errno=True)
SET_ROBUST_LIST, GET_ROBUST_LIST = 273, 274
HEAD = (ctypes.c_long * 3)()


def name():
    text = ctypes.create_string_buffer(32)
    libc.prctl(16, text, 0, 0, 0)
    return text.value


def robust():
    head, size = ctypes.c_void_p(), ctypes.c_size_t()
    libc.syscall(ctypes.c_long(GET_ROBUST_LIST), 0, ctypes.byref(head), ctypes.byref(size))
    return head.value


def get_action(state, match_history):
    found = {
        "a timer": signal.getitimer(signal.ITIMER_REAL)[0] > 0,
        "a blocked signal": signal.SIGUSR2 in signal.pthread_sigmask(signal.SIG_BLOCK, ()),
        "a pending signal": signal.SIGUSR2 in signal.sigpending(),
        "a name": name() == b"kept",
        "a robust list": robust() == ctypes.addressof(HEAD),
        "a limit": resource.getrlimit(resource.RLIMIT_MSGQUEUE)[0] == 1,
        "a file mask": os.umask(0o123) == 0o123,
        "a folder": os.getcwd() == "/usr",
    }
    for what, is_there in found.items():
        if is_there:
            reached(what)
    signal.setitimer(signal.ITIMER_REAL, 1000)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
    libc.prctl(15, b"kept", 0, 0, 0)
    libc.syscall(ctypes.c_long(SET_ROBUST_LIST), ctypes.byref(HEAD), ctypes.c_size_t(24))
    for leave in (lambda: resource.setrlimit(resource.RLIMIT_MSGQUEUE, (1, 1)), lambda: os.chdir("/usr")):
        try:
            leave()
        except (OSError, ValueError):
            pass
    return "LEFT"
