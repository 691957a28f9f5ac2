"""Sleeps for a minute in its constructor.

Must happen: a timeout at the start-up limit; the games are played out."""

import time

from attack import Attacker, reached


class Bot(Attacker):
    def __init__(self):
        time.sleep(60)
        reached("a minute of start-up")
