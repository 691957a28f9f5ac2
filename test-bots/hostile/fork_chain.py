"""Every child starts the next one and ends, for at most 200 generations and two seconds, so that there is always a
process without a parent that waits for it.

Must happen: the chain ends with the game; no process is left."""

import os
import time

from attack import Attacker, fork_or_refused


class Bot(Attacker):
    def attack(self):
        if fork_or_refused():
            return
        end = time.monotonic() + 2
        for _ in range(200):
            time.sleep(0.02)
            if time.monotonic() > end or os.fork():
                break
        os._exit(0)
