"""Closes every descriptor, including the protocol's.

Must happen: a crash; the process is killed."""

import os

from attack import Attacker


class Bot(Attacker):
    def attack(self):
        os.closerange(0, 65536)
