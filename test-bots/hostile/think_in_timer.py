"""Thinks in the handler of a timer's signal during the other bot's turn.

Must happen: that is charged with its next answer."""

import signal

from attack import Thief


class Bot(Thief):
    def think(self):
        signal.signal(signal.SIGALRM, lambda *_: self.burn(0.06))
        signal.setitimer(signal.ITIMER_REAL, 0.03)
