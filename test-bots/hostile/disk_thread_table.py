"""Gives a thread a descriptor table of its own (`close_range`), and fills deleted files there, up to 128 MiB.

Must happen: the table is refused."""

import os
import threading

from attack import DATA, Attacker, call, held


class Bot(Attacker):
    def attack(self):
        errors = []

        def fill():
            try:
                call(436, 1000, 1001, 2)  # CLOSE_RANGE_UNSHARE
                for count in range(1, 33):
                    file = os.open("data/gone", os.O_CREAT | os.O_RDWR)
                    os.unlink("data/gone")
                    os.write(file, bytes(4 << 20))
                    held("deleted files of a thread", count * 4, DATA)
            except Exception as error:
                errors.append(error)

        thread = threading.Thread(target=fill)
        thread.start()
        thread.join()
        if not isinstance(errors[0], OSError):
            raise errors[0]
