"""Fills files in `data` that are already deleted, up to 128 MiB. No folder shows them.

Must happen: the file system of `data` has exactly the size of the quota, and they count there."""

import os

from attack import DATA, Attacker, held


class Bot(Attacker):
    def attack(self):
        for count in range(1, 33):
            file = os.open("data/gone", os.O_CREAT | os.O_RDWR)
            os.unlink("data/gone")
            os.write(file, bytes(4 << 20))
            held("deleted files", count * 4, DATA)
