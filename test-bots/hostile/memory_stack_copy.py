"""Enlarges a copy of its own stack's mapping (`mremap`), which the kernel's limit for data does not count, up to
768 MiB.

Must happen: the pages are counted, and the bot is killed within a tenth of the limit."""

import ctypes

from attack import MEMORY, Attacker, held


class Bot(Attacker):
    def attack(self):
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mremap.restype = ctypes.c_void_p
        libc.mremap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int]
        libc.msync.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        # AT_EXECFN: the name of the program, at the end of the stack.
        libc.getauxval.restype = ctypes.c_ulong
        page = libc.getauxval(31) & ~4095
        # The last page of the stack holds texts that are no longer read.
        while libc.msync(page + 4096, 4096, 1) == 0:
            page += 4096
        address, size, step = page, 4096, 16 << 20
        for count in range(1, 49):
            address = libc.mremap(address, size, count * step, 1)
            if address == ctypes.c_void_p(-1).value:
                return
            size = count * step
            ctypes.memset(address + size - step + 4096, 1, step - 4096)
            held("a copy of the stack", count * 16, MEMORY)
