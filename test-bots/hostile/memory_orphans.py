"""Starts twelve processes without a parent that fill 64 MiB each and stay for two seconds: 768 MiB.

Must happen: they are found and counted, and the bot is killed within a tenth of the limit."""

import os
import time

from attack import MEMORY, Attacker, held


class Bot(Attacker):
    def attack(self):
        read, write = os.pipe()
        for _ in range(12):
            if os.fork() == 0:
                try:
                    if os.fork() == 0:
                        kept = []
                        for _ in range(16):
                            kept.append(bytearray(b"x") * (4 << 20))
                            os.write(write, b"x")
                        time.sleep(2)
                finally:
                    os._exit(0)
            os.wait()
        os.close(write)
        pieces = 0
        while os.read(read, 1):
            pieces += 1
            held("memory of orphans", pieces * 4, MEMORY)
