"""Thinks in a thread while its process is stopped: a slow child that ends with SIGCONT continues it.

Must happen: it stays frozen, or that is charged; or processes are refused."""

import os
import signal
import threading
import time

from attack import Thief, call


class Bot(Thief):
    def late(self):
        time.sleep(0.08)
        self.burn(0.12)

    def think(self):
        threading.Thread(target=self.late, daemon=True).start()
        try:
            child = call(56, int(signal.SIGCONT), 0, 0, 0, 0)
        except OSError:
            self.refused = "refused"
            return
        if child == 0:
            time.sleep(0.04)
            os._exit(0)
