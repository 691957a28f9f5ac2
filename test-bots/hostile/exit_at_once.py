"""Exits with status 0 (`os._exit`) instead of answering.

Must happen: a crash."""

import os

from attack import Attacker


class Bot(Attacker):
    def attack(self):
        os._exit(0)
