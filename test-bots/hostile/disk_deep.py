"""Makes folders in `data`, one in the other, 60 levels with names of 200 characters, deeper than a path can be
long, and fills files at the bottom.

Must happen: what cannot be measured counts as too large; the bot is killed, and the folders are gone afterwards."""

import os
import time

from attack import DATA, Attacker, held, make_folder


class Bot(Attacker):
    def attack(self):
        os.chdir("data")
        for _ in range(60):
            make_folder("d" * 200)
            os.chdir("d" * 200)
        for count in range(1, 33):
            with open(f"file{count}", "wb") as file:
                file.write(bytes(4 << 20))
            time.sleep(0.1)
            held("files in deep folders", count * 4, DATA)
