"""Registers hooks for the end of its process that sleep for half a minute: `atexit`, threads, `__del__`, signals.

Must happen: its process ends without them."""

import atexit
import signal
import threading
import time

from attack import Attacker


class Held:
    def __del__(self):
        time.sleep(30)
        raise SystemExit(7)


class Bot(Attacker):
    def attack(self):
        atexit.register(time.sleep, 30)
        threading._register_atexit(time.sleep, 30)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGPIPE, signal.SIGCONT):
            signal.signal(number, lambda *_: time.sleep(30) if number != signal.SIGCONT else None)
        self.held = Held()
