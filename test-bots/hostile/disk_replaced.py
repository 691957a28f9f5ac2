"""Fills files in `data`, keeps them open and replaces them by empty ones, up to 128 MiB.

Must happen: the file system of `data` has exactly the size of the quota, and they count there."""

import os

from attack import DATA, Attacker, held


class Bot(Attacker):
    def attack(self):
        for count in range(1, 33):
            file = os.open("data/old", os.O_CREAT | os.O_RDWR)
            os.write(file, bytes(4 << 20))
            os.close(os.open("data/new", os.O_CREAT | os.O_RDWR))
            os.replace("data/new", "data/old")
            held("replaced files", count * 4, DATA)
