"""Makes files in `data` that are long and have no content, up to 960 MiB: a copy of the folder would be as large.

Must happen: their length counts; the bot is killed."""

import os
import time

from attack import Attacker, held


class Bot(Attacker):
    def attack(self):
        for count in range(1, 17):
            with open(f"data/sparse{count}", "wb") as file:
                os.truncate(file.fileno(), 60 << 20)
            time.sleep(0.15)
            held("length of files", count * 60, 120)
