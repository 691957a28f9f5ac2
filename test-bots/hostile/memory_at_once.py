"""Allocates 2 GiB of memory in one piece: as an object, as private and as shared memory.

Must happen: all are refused, and the bot continues to play."""

import mmap

from attack import Attacker, refused


class Bot(Attacker):
    def attack(self):
        refused("an object", lambda: len(bytearray(2 << 30)), MemoryError)
        refused("private memory", lambda: mmap.mmap(-1, 2 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
        refused("shared memory", lambda: mmap.mmap(-1, 2 << 30))
