"""Allocates 1.5 GiB of memory in six processes of 256 MiB each, for at most a second.

Must happen: killed as soon as its processes exceed the limit in total."""

import os
import time

from attack import Attacker, fork_or_refused, reached


class Bot(Attacker):
    def attack(self):
        read, write = os.pipe()
        for _ in range(6):
            child = fork_or_refused()
            if child < 0:
                raise MemoryError("no process, no memory")
            if child == 0:
                try:
                    taken = bytearray(256 << 20)
                    os.write(write, b"x")
                    time.sleep(1)
                    del taken
                finally:
                    os._exit(0)
        os.close(write)
        count = 0
        while os.read(read, 1):
            count += 1
        if count == 6:
            reached("1.5 GiB in six processes")
