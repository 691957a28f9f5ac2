"""Loops for a minute.

Must happen: a timeout; the process is killed."""

import time

from attack import Attacker, reached


class Bot(Attacker):
    def attack(self):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            pass
        reached("a minute of thinking")
