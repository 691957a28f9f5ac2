"""Lets a child process count during the other bot's turn.

Must happen: its processes are paused then."""

import os
import time

from attack import Attacker, fork_or_refused, reached

TICK, SETTLE = 0.002, 0.08


class Bot(Attacker):
    pipe = None

    def get_move(self, board, player, T, N):
        if self.pipe is None:
            self.pipe, write = os.pipe()
            os.set_blocking(self.pipe, False)
            if fork_or_refused() == 0:
                end = time.monotonic() + 30
                while time.monotonic() < end:
                    time.sleep(TICK)
                    os.write(write, int(time.monotonic() * 1000).to_bytes(8, "big"))
                os._exit(0)
            os.close(write)
        else:
            now = time.monotonic()
            try:
                data = os.read(self.pipe, 1 << 16)
            except BlockingIOError:
                data = b""
            times = [int.from_bytes(data[n : n + 8], "big") / 1000 for n in range(0, len(data) - 7, 8)]
            ticks = sum(self.answered + SETTLE < at < now - 0.005 for at in times)
            if ticks > 25:
                reached("thinking on the other's turn", ticks)
        self.answered = time.monotonic()
        return 0
