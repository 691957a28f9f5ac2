"""Asks which pages of a library are in memory: `mincore`, `cachestat`, a read that must not wait.

Must happen: all are refused."""

import ctypes
import mmap
import os

from attack import Attacker, call, refused


class Bot(Attacker):
    def attack(self):
        file = os.open(__file__, os.O_RDONLY)
        pages = mmap.mmap(file, 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
        address = ctypes.addressof(ctypes.c_char.from_buffer(pages))
        room = (ctypes.c_uint64 * 8)()
        refused("mincore", lambda: call(27, ctypes.c_void_p(address), 4096, room))
        refused("cachestat", lambda: call(451, file, (ctypes.c_uint64 * 2)(0, 4096), room, 0))
        refused("a read that does not wait", lambda: os.preadv(file, [bytearray(16)], 0, os.RWF_NOWAIT))
        os.close(file)
