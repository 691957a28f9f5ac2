"""Sleeps for a minute.

Must happen: a timeout; the process is killed."""

import time

from attack import Attacker, reached


class Bot(Attacker):
    def attack(self):
        time.sleep(60)
        reached("a minute of sleep")
