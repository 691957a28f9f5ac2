"""Locks 256 KiB of memory, so that the system cannot take it back: a range, everything, and with the mapping.

Must happen: all are refused."""

import ctypes

from attack import Attacker, call, map_memory, refused


class Bot(Attacker):
    def attack(self):
        size = 256 << 10
        address = map_memory(size)
        refused("locking a range", lambda: call(149, ctypes.c_void_p(address), size))
        refused("locking on access", lambda: call(325, ctypes.c_void_p(address), size, 1))
        refused("a locked mapping", lambda: map_memory(size, 0x2000))
