"""Matches a regular expression that takes very long, in C code that no Python signal handler interrupts.

Must happen: a timeout; the process is killed."""

import re

from attack import Attacker, reached


class Bot(Attacker):
    def attack(self):
        re.match(r"(a|aa)+$", "a" * 42 + "b")
        reached("a long match")
