"""Reads address 0.

Must happen: a crash that names the signal."""

import ctypes

from attack import Attacker


class Bot(Attacker):
    def attack(self):
        ctypes.string_at(0)
