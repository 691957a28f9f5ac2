"""Maps memory that grows downwards like a stack, which the kernel's limit for data does not count, and fills 768
MiB of it.

Must happen: the mapping is refused."""

import ctypes

from attack import MEMORY, Attacker, held, map_memory


class Bot(Attacker):
    def attack(self):
        size = 16 << 20
        for count in range(1, 49):
            # 0x100 is MAP_GROWSDOWN.
            try:
                address = map_memory(size, 0x100)
            except OSError:
                return
            ctypes.memset(address, 1, size)
            held("memory that grows like a stack", count * 16, MEMORY)
