"""Fills files in `data` that are already deleted, one in each of 32 processes, up to 128 MiB.

Must happen: the file system of `data` has exactly the size of the quota, and they count there; or it cannot
start the processes."""

import os
import time

from attack import DATA, Attacker, held


class Bot(Attacker):
    def attack(self):
        read, write = os.pipe()
        for _ in range(32):
            try:
                child = os.fork()
            except OSError:
                break
            if child == 0:
                try:
                    file = os.open(f"data/gone{os.getpid()}", os.O_CREAT | os.O_RDWR)
                    os.unlink(f"data/gone{os.getpid()}")
                    os.write(file, bytes(4 << 20))
                    os.write(write, b"x")
                    time.sleep(2)
                finally:
                    os._exit(0)
        os.close(write)
        pieces = 0
        while os.read(read, 1):
            pieces += 1
            held("deleted files of children", pieces * 4, DATA)
