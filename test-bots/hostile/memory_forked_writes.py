"""Fills 400 MiB, forks, and has the child write to all pages, so that the two no longer share them: 800 MiB in two
processes that stay within their limits.

Must happen: what is no longer shared is counted, and the bot is killed within a tenth of the limit."""

import os

from attack import MEMORY, Attacker, held, reached


class Bot(Attacker):
    def attack(self):
        taken = bytearray(b"x") * (400 << 20)
        child = os.fork()
        if child == 0:
            try:
                for place in range(0, len(taken), 4096):
                    taken[place] = 1
                    if place % (8 << 20) == 0:
                        held("memory of a fork", 400 + (place >> 20), MEMORY)
            finally:
                os._exit(7)
        if os.WEXITSTATUS(os.waitpid(child, 0)[1]) == 7:
            reached("memory of a fork")
