"""Leaves a daemon behind: two forks, its own session if possible, all signals ignored, another name, for half a minute.

Must happen: it is gone when the game ends."""

import ctypes
import os
import signal
import time

from attack import Attacker, fork_or_refused


class Bot(Attacker):
    def attack(self):
        if fork_or_refused():
            return
        try:
            os.setsid()
        except OSError:
            pass
        if os.fork() == 0:
            os.chdir("/")
            ctypes.CDLL(None).prctl(15, b"systemd", 0, 0, 0)
            for number in range(1, signal.NSIG):
                try:
                    signal.signal(number, signal.SIG_IGN)
                except (OSError, ValueError):
                    pass
            os.closerange(0, 1024)
            time.sleep(30)
        os._exit(0)
