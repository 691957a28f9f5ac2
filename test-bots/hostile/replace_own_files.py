"""Replaces its file and its helper, and adds modules and bytecode for its next start.

Must happen: its folder is read-only."""

import os

from attack import FOLDER, Attacker, refused, write


class Bot(Attacker):
    def attack(self):
        for name in (os.path.basename(__file__), "attack.py", "json.py", "numpy.py", "sitecustomize.py", "evil.pth", "targets.json"):
            refused(name, lambda: write(os.path.join(FOLDER, name)))
        refused("bytecode", lambda: os.mkdir(os.path.join(FOLDER, "__pycache__")))
        refused("the host's code", lambda: write(__import__("agon_bot").__file__))
        refused("Python's code", lambda: write(os.__file__))
        refused("moving it", lambda: os.rename(FOLDER, FOLDER + "-old"))
