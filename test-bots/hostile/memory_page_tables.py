"""Maps address space without end for reading and reads one byte of every 2 MiB. No page is used, but the kernel
needs 4 KiB to describe each: up to 768 MiB of page tables.

Must happen: page tables are counted, and the bot is killed within a tenth of the limit."""

import ctypes

from attack import MEMORY, Attacker, held, map_memory


class Bot(Attacker):
    def attack(self):
        for count in range(1, 97):
            address = map_memory(4 << 30, 0x4000, 1)  # MAP_NORESERVE
            for place in range(0, 4 << 30, 2 << 20):
                ctypes.string_at(address + place, 1)
            held("page tables", count * 8, MEMORY)
