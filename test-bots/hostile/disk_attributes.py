"""Keeps data in extended attributes of its files, which no size shows.

Must happen: they cannot be set."""

import os

from attack import Attacker, refused


class Bot(Attacker):
    def attack(self):
        with open("data/file", "wb"):
            pass
        refused("an attribute", lambda: os.setxattr("data/file", "user.hidden", bytes(2000)))
        os.unlink("data/file")
