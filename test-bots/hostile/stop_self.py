"""Stops itself (SIGSTOP), so that it cannot answer.

Must happen: a timeout; the process is killed."""

import os
import signal
import time

from attack import Attacker, reached


class Bot(Attacker):
    def attack(self):
        os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(60)
        reached("a minute")
