"""Calls itself without end through C code, without Python's recursion limit, until the stack is used up.

Must happen: a crash; the stack limit of the process holds."""

import sys

from attack import Attacker


class Deep:
    def __getattr__(self, name):
        return getattr(self, name + "x"[:0])


class Bot(Attacker):
    def attack(self):
        sys.setrecursionlimit(1 << 30)
        Deep().deeper
