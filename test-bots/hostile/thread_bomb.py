"""Starts up to 200 threads that run for two seconds.

Must happen: far fewer start, the others are refused, and the bot continues to play."""

import _thread
import time

from attack import Attacker, reached


class Bot(Attacker):
    def attack(self):
        for made in range(200):
            try:
                _thread.start_new_thread(time.sleep, (2,))
            except RuntimeError:
                return
        reached("200 threads")
