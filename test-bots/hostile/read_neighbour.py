"""Reads and imports the bot of its opponent, whose file is in the same folder, as in the original Colour Battle.

Must happen: helpers beside a bot can be read, the bot of another seat cannot."""

from attack import Attacker, read, refused


class Bot(Attacker):
    def attack(self):
        refused("its code", lambda: read("Honest.py"))
        refused("its module", lambda: __import__("Honest").Honest, (ImportError, OSError))
