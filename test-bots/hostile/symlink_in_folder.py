"""Has symbolic links in its folder: to a file outside, and to the folder outside.

Must happen: they lead nowhere."""

import os

from attack import Attacker, read, refused


class Bot(Attacker):
    def attack(self):
        refused("a linked file", lambda: read("linked.py"))
        refused("a linked folder", lambda: read("folder/canary.py"))
        refused("its list", lambda: os.listdir("folder"))
        refused("a linked module", lambda: __import__("linked").SECRET, (ImportError, OSError))
