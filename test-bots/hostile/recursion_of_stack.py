"""Calls itself without an end through C code, Python's own limit lifted, until the stack is used up.

Must happen: a crash; the machine's stack limit holds."""

import sys

from attack import Attacker


class Deep:
    def __getattr__(self, name):
        return getattr(self, name + "x"[:0])


class Bot(Attacker):
    def attack(self):
        sys.setrecursionlimit(1 << 30)
        Deep().deeper
