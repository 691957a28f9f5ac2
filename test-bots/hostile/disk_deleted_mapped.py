"""Fills files in `data`, maps one page of each, closes and deletes them, up to 128 MiB. Neither a folder nor a
descriptor shows them.

Must happen: the file system of `data` has exactly the size of the quota, and they count there."""

import ctypes
import mmap
import os

from attack import DATA, Attacker, held


def map_page(file):
    """Maps the first page. (Python's own function would keep a descriptor.)"""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
    return libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_SHARED, file, 0)


class Bot(Attacker):
    def attack(self):
        kept = []
        for count in range(1, 33):
            file = os.open("data/gone", os.O_CREAT | os.O_RDWR)
            os.write(file, bytes(4 << 20))
            kept.append(map_page(file))
            os.close(file)
            os.unlink("data/gone")
            held("deleted files that are mapped", count * 4, DATA)
