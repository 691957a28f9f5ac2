"""Writes to files in `data` through mappings and not by calls, up to 128 MiB.

Must happen: the file system of `data` has exactly the size of the quota: the write fails."""

import mmap
import os

from attack import DATA, Attacker, held


class Bot(Attacker):
    def attack(self):
        kept = []
        for count in range(1, 33):
            file = os.open(f"data/mapped{count}", os.O_CREAT | os.O_RDWR)
            os.truncate(file, 4 << 20)
            pages = mmap.mmap(file, 4 << 20)
            os.close(file)
            pages.write(bytes(4 << 20))
            kept.append(pages)
            held("files written through mappings", count * 4, DATA)
