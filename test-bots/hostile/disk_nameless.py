"""Fills files in `data` that never have a name (`O_TMPFILE`), up to 128 MiB.

Must happen: they cannot be made."""

import os

from attack import DATA, Attacker, held


class Bot(Attacker):
    def attack(self):
        for count in range(1, 33):
            try:
                file = os.open("data", os.O_TMPFILE | os.O_RDWR)
            except OSError:
                return
            os.write(file, bytes(4 << 20))
            held("files without a name", count * 4, DATA)
