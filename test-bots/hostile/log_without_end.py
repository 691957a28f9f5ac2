"""Writes 16 MiB to its log without a line end, then continues to play.

Must happen: at most the bot's time is lost."""

import os

from attack import Attacker


class Bot(Attacker):
    def attack(self):
        for _ in range(256):
            os.write(2, b"x" * 65536)
