"""Reads and changes the limits of its child and of its parent (`prlimit`).

Must happen: both are refused."""

import os
import resource
import time

from attack import Attacker, refused


class Bot(Attacker):
    def attack(self):
        try:
            child = os.fork()
        except OSError:
            return
        if child == 0:
            time.sleep(1)
            os._exit(0)
        try:
            refused("its child's", lambda: resource.prlimit(child, resource.RLIMIT_NOFILE, (8, 8)))
            refused("its parent's", lambda: resource.prlimit(os.getppid() or 1, resource.RLIMIT_NOFILE))
        finally:
            os.kill(child, 9)
            os.wait()
