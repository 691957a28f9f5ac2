"""Ignores or blocks every signal it can, then loops for a minute, in a child too.

Must happen: a timeout; both processes are killed."""

import signal
import time

from attack import Attacker, fork_or_refused, reached


class Bot(Attacker):
    def attack(self):
        for number in range(1, signal.NSIG):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())
        fork_or_refused()
        end = time.monotonic() + 60
        while time.monotonic() < end:
            pass
        reached("a minute of thinking")
