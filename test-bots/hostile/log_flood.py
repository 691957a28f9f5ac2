"""Prints 64 MiB, then raises an exception.

Must happen: at most the bot's time is lost; the record keeps the end of the output and stays small."""

import sys

from attack import Attacker


class Bot(Attacker):
    def attack(self):
        for _ in range(1024):
            sys.stdout.write("flood " * 10922 + "\n")
        raise ValueError("after the flood")
