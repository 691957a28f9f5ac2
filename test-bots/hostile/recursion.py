"""Calls itself without an end.

Must happen: a crash with Python's own words."""

from attack import Attacker


class Bot(Attacker):
    def attack(self):
        self.attack()
