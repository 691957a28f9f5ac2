"""Makes symbolic links to forbidden files, in many folders.

Must happen: no link can be made."""

import os

from attack import TARGETS, Attacker, refused


class Bot(Attacker):
    def attack(self):
        for folder in (".", "data", "/tmp", "/dev/shm", TARGETS["outside"], TARGETS["honest"]):
            link = os.path.join(folder, TARGETS["token"] + "-link")
            refused(link, lambda: os.symlink(TARGETS["canary"], link))
