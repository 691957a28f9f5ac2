"""Lets children think for it and waits for a processor meanwhile, which is not charged; for at most ten seconds.

Must happen: it gets no more processor time than its clock and its cores allow, or a timeout."""

import os
import time

from attack import TARGETS, Attacker, reached


def think(write, end):
    """Burns processor time, and says so every 20 ms of it."""
    said = time.process_time()
    while time.monotonic() < end:
        if time.process_time() > said + 0.02:
            said += 0.02
            os.write(write, b"x")
    os._exit(0)


class Bot(Attacker):
    def get_move(self, board, player, T, N):
        if not self.done:
            self.done = True
            cores = TARGETS.get("cores", 2)
            read, write = os.pipe()
            os.set_blocking(read, False)
            end = time.monotonic() + 10
            for _ in range(8 * cores):
                if os.fork() == 0:
                    think(write, end)
            used = 0.0
            # Never asleep, so that it always waits for a processor.
            while time.monotonic() < end:
                try:
                    used += 0.02 * len(os.read(read, 4096))
                except BlockingIOError:
                    continue
                if used > 1.5 * cores * T:
                    reached("processor time", used)
        return 0
