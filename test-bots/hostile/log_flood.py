"""Prints 64 MiB, then raises.

Must happen: at most the bot's own time is lost; the record keeps the end of it and stays small."""

import sys

from attack import Attacker


class Bot(Attacker):
    def attack(self):
        for _ in range(1024):
            sys.stdout.write("flood " * 10922 + "\n")
        raise ValueError("after the flood")
