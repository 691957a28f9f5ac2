"""Thinks in short threads that replace each other and end before the answer. The first thread waits for the processor
meanwhile, which is not charged.

Must happen: what ended threads have used is charged."""

import threading

from attack import Thief


class Bot(Thief):
    def think(self):
        threads = [threading.Thread(target=self.burn, args=(0.01,)) for _ in range(10)]
        for thread in threads:
            thread.start()
        self.burn(0.1)
        for thread in threads:
            thread.join()
