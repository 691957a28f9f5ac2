"""Opens the shared memory of another process, lists all shared memory, and makes some for others.

Must happen: there is none."""

import os

from attack import TARGETS, Attacker, call, read, refused, write


class Bot(Attacker):
    def attack(self):
        refused("of another process", lambda: read(TARGETS["shared"]))
        refused("of another process, for writing", lambda: write(TARGETS["shared"]))
        refused("all", lambda: os.listdir("/dev/shm"))
        refused("new shared memory", lambda: write("/dev/shm/" + TARGETS["token"] + "-own"))
        refused("System V", lambda: call(29, 0x41474F4E, 4096, 0o1666))
