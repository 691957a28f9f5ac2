"""Calls itself without end.

Must happen: a crash with Python's error message."""

from attack import Attacker


class Bot(Attacker):
    def attack(self):
        self.attack()
