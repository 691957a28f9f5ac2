"""Sleeps for a minute in its constructor.

Must happen: not ready in time: rejected before any game."""

import time

from attack import Attacker, reached


class Bot(Attacker):
    def __init__(self):
        time.sleep(60)
        reached("a minute of start-up")
