"""Makes other processes the owners of its pipes, so that they get a signal when something is written.

Must happen: refused."""

import fcntl
import os
import signal

from attack import TARGETS, Attacker, refused


class Bot(Attacker):
    def attack(self):
        read, write = os.pipe()
        for descriptor in (read, write, 0, 1, 2):
            refused("an owner", lambda: fcntl.fcntl(descriptor, fcntl.F_SETOWN, TARGETS["victim"]))
            refused("another signal", lambda: fcntl.fcntl(descriptor, 10, int(signal.SIGURG)))
