"""Opens up to 4000 files at the same time, then 4000 pipes.

Must happen: a much lower limit stops it, and the bot continues to play."""

import os

from attack import Attacker, reached


class Bot(Attacker):
    def attack(self):
        opened = []
        try:
            for _ in range(4000):
                opened.append(os.open("/dev/null", os.O_RDONLY))
            reached("4000 descriptors")
        except OSError:
            pass
        for descriptor in opened:
            os.close(descriptor)
        opened.clear()
        try:
            for _ in range(4000):
                opened.extend(os.pipe())
            reached("8000 ends of pipes")
        except OSError:
            pass
        for descriptor in opened:
            os.close(descriptor)
