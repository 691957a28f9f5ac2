"""Starts up to 200 processes that run for two seconds.

Must happen: far fewer start, the others are refused, and the bot continues to play."""

import os
import time

from attack import Attacker, reached


class Bot(Attacker):
    def attack(self):
        for made in range(200):
            try:
                if os.fork() == 0:
                    time.sleep(2)
                    os._exit(0)
            except OSError:
                return
        reached("200 processes")
