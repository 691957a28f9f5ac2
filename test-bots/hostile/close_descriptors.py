"""Closes every descriptor there is, the protocol's among them.

Must happen: a crash; the process is ended."""

import os

from attack import Attacker


class Bot(Attacker):
    def attack(self):
        os.closerange(0, 65536)
