"""Connect Five: multiplies matrices in four threads that end before the answer, and reports their CPU time."""

import sys
import threading
import time

import numpy

SECONDS = 0.010
MATRIX = numpy.ones((120, 120))


class ThreadedProducts:
    def multiply(self):
        end = time.thread_time() + SECONDS
        while time.thread_time() < end:
            MATRIX @ MATRIX
        self.used.append(time.thread_time())

    def get_move(self, board, player, T, N):
        before = time.thread_time()
        self.used = []
        threads = [threading.Thread(target=self.multiply) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        used = sum(self.used) + time.thread_time() - before
        print(f"used {used * 1e6:.0f} us", file=sys.stderr, flush=True)
        return 0 if player == 1 else 8
