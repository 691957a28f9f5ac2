"""Stops the clocks that it can see, then loops for a minute.

Must happen: a timeout; the clock that counts is outside."""

import time

from attack import Attacker, reached

real = time.monotonic
time.time = time.monotonic = time.perf_counter = time.process_time = lambda: 0.0
time.time_ns = time.monotonic_ns = time.perf_counter_ns = lambda: 0


class Bot(Attacker):
    def attack(self):
        end = real() + 60
        while real() < end:
            pass
        reached("a minute of thinking")
