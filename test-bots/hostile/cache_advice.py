"""Gives advice about pages of a library that other bots read too: read them ahead, drop them, read single pages;
and about its own pages: swap them out, share equal ones, keep them out of forks.

Must happen: all of it is refused."""

import ctypes
import mmap

from attack import Attacker, map_memory, reached, refused


class Bot(Attacker):
    def attack(self):
        with open(__file__, "rb") as file:
            pages = mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ)
        own = map_memory(1 << 20)
        libc = ctypes.CDLL(None, use_errno=True)
        shared = (("reading ahead", 3), ("single pages", 1), ("cold pages", 20), ("dropping", 21), ("equal pages", 12))
        for name, advice in shared:
            if libc.madvise(ctypes.c_void_p(own), ctypes.c_size_t(4096), advice) == 0:
                reached(name)
            refused(name, lambda: pages.madvise(advice))
        for name, advice in (("not in forks", 10), ("in forks", 11), ("wiped in forks", 18), ("removing", 9)):
            if libc.madvise(ctypes.c_void_p(own), ctypes.c_size_t(4096), advice) == 0:
                reached(name)
