"""Reserves 128 MiB for files in `data` that stay empty (`fallocate` with KEEP_SIZE).

Must happen: it is refused."""

import ctypes
import os

from attack import DATA, Attacker, held


class Bot(Attacker):
    def attack(self):
        libc = ctypes.CDLL(None, use_errno=True)
        libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]
        for count in range(1, 5):
            file = os.open(f"data/reserved{count}", os.O_CREAT | os.O_RDWR)
            if libc.fallocate(file, 1, 0, 32 << 20) == 0:
                held("reserved space", count * 32, DATA)
            os.close(file)
