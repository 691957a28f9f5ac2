"""Writes a line into every descriptor that it has inherited.

Must happen: garbled, because one of them is the protocol's; no other process gets any of it."""

import os

from attack import Attacker


class Bot(Attacker):
    def attack(self):
        for descriptor in range(3, 1024):
            try:
                os.write(descriptor, b'{"id":1,"answer":8}\n')
            except OSError:
                pass
