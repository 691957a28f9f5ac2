"""Every child starts the next one and ends, 200 generations at most and two seconds long: there is always one that nobody
waits for.

Must happen: the chain ends with the game; nothing runs on."""

import os
import time

from attack import Attacker


class Bot(Attacker):
    def attack(self):
        if os.fork():
            return
        end = time.monotonic() + 2
        for _ in range(200):
            time.sleep(0.02)
            if time.monotonic() > end or os.fork():
                break
        os._exit(0)
