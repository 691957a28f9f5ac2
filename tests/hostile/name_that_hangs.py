"""Sleeps for a minute when it is asked for its name.

Must happen: a timeout at the start-up limit."""

import time

from attack import Attacker


class Bot(Attacker):
    def get_name(self):
        time.sleep(60)
        return "REACHED a minute"
