"""Writes up to 300 MiB in total into many folders.

Must happen: it can write less than 128 MiB, and the files are gone afterwards."""

import os

from attack import FOLDER, TARGETS, Attacker, reached


class Bot(Attacker):
    def attack(self):
        written = 0
        for folder in (".", FOLDER, "data", "logs", "/tmp", "/var/tmp", "/dev/shm", "/run", os.path.expanduser("~")):
            try:
                with open(os.path.join(folder, TARGETS["token"] + ".fill"), "wb") as file:
                    while written < 300 << 20:
                        written += file.write(bytes(1 << 20))
            except OSError:
                pass
        if written > 128 << 20:
            reached("a full disk", written)
