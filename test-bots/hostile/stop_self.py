"""Stops itself (SIGSTOP), so that nothing of it can answer.

Must happen: a timeout; the process is ended."""

import os
import signal
import time

from attack import Attacker, reached


class Bot(Attacker):
    def attack(self):
        os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(60)
        reached("a minute")
