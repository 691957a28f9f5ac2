"""Makes up to 2000 files and folders.

Must happen: none can be made outside its own folder, and they are gone afterwards."""

import os

from attack import TARGETS, Attacker, refused


class Bot(Attacker):
    def attack(self):
        for folder in ("/tmp", "/var/tmp", "/dev/shm", TARGETS["outside"], TARGETS["honest"], "/"):
            for number in range(100):
                name = os.path.join(folder, f"{TARGETS['token']}-{number}")
                refused(name, lambda: open(name, "x").close() or os.unlink(name))
                refused(name, lambda: os.mkdir(name))
