"""Lets children think for it and stands in the queue for a processor meanwhile, which is not charged.

Must happen: it gets no more processor time than its clock and its cores allow, or a timeout."""

import os
import struct
import time

from attack import TARGETS, Attacker, reached


class Bot(Attacker):
    def get_move(self, board, player, T, N):
        if not self.done:
            self.done = True
            cores = TARGETS.get("cores", 2)
            read, write = os.pipe()
            os.set_blocking(read, False)
            end = time.monotonic() + 16 * T
            for _ in range(6 * cores):
                if os.fork() == 0:
                    while time.monotonic() < end:
                        pass
                    os.write(write, struct.pack("d", time.process_time()))
                    os._exit(0)
            data = b""
            # Never asleep, so that it always stands in the queue.
            while len(data) < 8 * 6 * cores and time.monotonic() < end + 3 * T:
                try:
                    data += os.read(read, 4096)
                except BlockingIOError:
                    pass
            used = sum(struct.unpack(f"{len(data) // 8}d", data))
            if used > 1.25 * cores * T:
                reached("processor time", used)
        return 0
