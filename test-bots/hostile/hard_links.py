"""Makes hard links to files of the engine, of the other bot and of Python.

Must happen: none can be made."""

import os
import sys

from attack import TARGETS, Attacker, refused


class Bot(Attacker):
    def attack(self):
        for source in (TARGETS["canary"], os.path.join(TARGETS["honest"], "Honest.py"), sys.executable, __file__):
            for folder in (".", "data", "/tmp", "/dev/shm"):
                refused(source, lambda: os.link(source, os.path.join(folder, TARGETS["token"] + "-hard")))
