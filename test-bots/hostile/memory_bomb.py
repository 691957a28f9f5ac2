"""Allocates 2 GiB of memory in pieces of 16 MiB.

Must happen: the memory limit stops it with a MemoryError, and the bot continues to play."""

from attack import Attacker, refused


class Bot(Attacker):
    def attack(self):
        kept = []

        def take():
            for _ in range(128):
                kept.append(bytearray(16 << 20))
            return len(kept)

        refused("2 GiB in pieces", take, MemoryError)
        kept.clear()
