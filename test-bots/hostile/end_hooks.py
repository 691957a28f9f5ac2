"""Registers hooks for the exit of its process: `atexit`, threads and signals that sleep for half a minute, a `__del__`
that exits with another status.

Must happen: its process ends without them."""

import atexit
import os
import signal
import threading
import time

from attack import Attacker


class Held:
    def __del__(self):
        os._exit(7)


class Bot(Attacker):
    def attack(self):
        atexit.register(time.sleep, 30)
        threading._register_atexit(time.sleep, 30)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
            signal.signal(number, lambda *_: time.sleep(30))
        self.held = Held()
