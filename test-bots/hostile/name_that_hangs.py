"""Sleeps for a minute in `get_name`.

Must happen: not ready in time: rejected before any game."""

import time

from attack import Attacker


class Bot(Attacker):
    def get_name(self):
        time.sleep(60)
        return "REACHED a minute"
