"""Lets a thread count during the other bot's turn.

Must happen: its process is paused then."""

import threading
import time

from attack import Attacker, reached

TICK, SETTLE = 0.002, 0.08


class Bot(Attacker):
    answered = None
    ticks = 0

    def count(self):
        end = time.monotonic() + 30
        while time.monotonic() < end:
            time.sleep(TICK)
            if self.answered and time.monotonic() > self.answered + SETTLE:
                self.ticks += 1

    def get_move(self, board, player, T, N):
        if self.answered is None:
            threading.Thread(target=self.count, daemon=True).start()
        # The other bot thinks for 0.4 s: 150 ticks if this process is not paused. A few ticks come before the pause.
        self.answered = None
        if self.ticks > 25:
            reached("thinking on the other's turn", self.ticks)
        self.ticks = 0
        self.answered = time.monotonic()
        return 0
