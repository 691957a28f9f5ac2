"""Fills memory as fast as the kernel can, in pieces of 64 MiB without a fault for each page, and makes them read-
only, up to 768 MiB.

Must happen: the launcher counts fast enough: the bot is killed within a tenth of the limit."""

import ctypes

from attack import MEMORY, Attacker, held, map_memory


class Bot(Attacker):
    def attack(self):
        libc, size = ctypes.CDLL(None), 4 << 20
        for count in range(1, 193):
            # 0x8000 is MAP_POPULATE.
            address = map_memory(size, 0x8000)
            libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), 1)
            held("populated memory", count * 4, MEMORY)
