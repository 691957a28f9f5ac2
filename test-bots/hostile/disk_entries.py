"""Makes up to 40,000 empty files in `data`.

Must happen: each counts one block; there are at most 16,384."""

import os
import time

from attack import DATA, Attacker, held, make_folder


class Bot(Attacker):
    def attack(self):
        for count in range(1, 41):
            make_folder(f"data/{count}")
            for number in range(1000):
                os.close(os.open(f"data/{count}/{number}", os.O_CREAT | os.O_WRONLY))
            time.sleep(0.15)
            held("blocks of entries", count * 4, DATA)
