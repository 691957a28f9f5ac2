"""Sleeps for a minute when it is asked for its name.

Must happen: not ready in time: refused before any game."""

import time

from attack import Attacker


class Bot(Attacker):
    def get_name(self):
        time.sleep(60)
        return "REACHED a minute"
