"""Opens the shared memory of a process beside it, lists all there is, and makes some for others.

Must happen: there is none."""

import os

from attack import TARGETS, Attacker, call, read, refused, write


class Bot(Attacker):
    def attack(self):
        refused("somebody's", lambda: read(TARGETS["shared"]))
        refused("somebody's, to be changed", lambda: write(TARGETS["shared"]))
        refused("all", lambda: os.listdir("/dev/shm"))
        refused("some of its own", lambda: write("/dev/shm/" + TARGETS["token"] + "-own"))
        refused("System V", lambda: call(29, 0x41474F4E, 4096, 0o1666))
