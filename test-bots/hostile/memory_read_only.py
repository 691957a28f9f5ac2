"""Fills memory, makes it read-only, so that it no longer counts as data, and continues with the next piece, up to
768 MiB.

Must happen: the pages are counted, and the bot is killed within a tenth of the limit."""

import ctypes

from attack import MEMORY, Attacker, held, map_memory


class Bot(Attacker):
    def attack(self):
        libc, size = ctypes.CDLL(None), 16 << 20
        for count in range(1, 49):
            address = map_memory(size)
            ctypes.memset(address, 1, size)
            libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), 1)
            held("read-only memory", count * 16, MEMORY)
