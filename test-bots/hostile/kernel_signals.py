"""Blocks a signal and sends it to itself 20,000 times, each with a value; the kernel keeps all of them.

Must happen: at most 1,024 wait at the same time."""

import ctypes
import os
import signal

from attack import Attacker, reached


class Bot(Attacker):
    def attack(self):
        libc = ctypes.CDLL(None, use_errno=True)
        signal.pthread_sigmask(signal.SIG_BLOCK, {40})
        sent = 0
        while sent < 20_000 and libc.sigqueue(os.getpid(), 40, ctypes.c_void_p(sent)) == 0:
            sent += 1
        signal.signal(40, signal.SIG_IGN)
        if sent > 1100:
            reached("signals that wait", sent)
