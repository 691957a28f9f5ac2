"""Raises an exception whose `__str__` takes a minute.

Must happen: a timeout; the process is killed."""

import time

from attack import Attacker


class Wrong(Exception):
    def __str__(self):
        time.sleep(60)
        return "REACHED a minute"


class Bot(Attacker):
    def attack(self):
        raise Wrong()
