"""Writes to files in `data` as fast as it can, up to 128 MiB.

Must happen: the file system of `data` has exactly the size of the quota."""

import os

from attack import DATA, Attacker, held


class Bot(Attacker):
    def attack(self):
        piece = bytes(1 << 20)
        for count in range(1, 129):
            file = os.open(f"data/fast{count // 16}", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
            os.write(file, piece)
            os.close(file)
            held("files written fast", count, DATA)
