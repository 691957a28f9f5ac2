"""Enlarges 100 pipes to 1 MiB each and fills them.

Must happen: a pipe keeps its size, so that all of them hold less than 16 MiB."""

import fcntl
import os

from attack import Attacker, held


class Bot(Attacker):
    def attack(self):
        total = 0
        for _ in range(100):
            read, write = os.pipe()
            try:
                fcntl.fcntl(write, 1031, 1 << 20)  # F_SETPIPE_SZ
            except OSError:
                pass
            os.set_blocking(write, False)
            try:
                while True:
                    total += os.write(write, bytes(65536))
            except OSError:
                pass
            held("bytes in pipes", total / (1 << 20), 16)
