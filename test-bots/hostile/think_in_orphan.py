"""Lets an orphan think during the other bot's turns.

Must happen: that is charged, and the orphan is frozen; or processes are refused."""

from attack import Thief


class Bot(Thief):
    def think(self):
        if self.moves == 1:
            self.orphan(0.6)
