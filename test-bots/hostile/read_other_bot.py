"""Reads the files of its opponent's bot, and imports it.

Must happen: both fail."""

import os
import sys

from attack import TARGETS, Attacker, read, refused


class Bot(Attacker):
    def attack(self):
        honest = TARGETS["honest"]
        refused("its secret", lambda: read(os.path.join(honest, "secret.txt")))
        refused("its code", lambda: read(os.path.join(honest, "Honest.py")))
        refused("its list", lambda: os.listdir(honest))
        refused("by dots", lambda: read("../honest/Honest.py"))
        sys.path.insert(0, honest)
        refused("its module", lambda: __import__("Honest"), ImportError)
