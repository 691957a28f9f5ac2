"""Starts up to 200 threads that stay for two seconds.

Must happen: far fewer are started, the rest is refused, and the bot plays on."""

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
