"""Thinks in a process that has the bot's own parent (`clone` with `CLONE_PARENT`), so that it is not among its children.

Must happen: what it has used is charged, or it is refused."""

import os

from attack import Thief, call

CLONE_PARENT, SIGCHLD = 0x8000, 17


class Bot(Thief):
    def think(self):
        try:
            child = call(56, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0)
        except OSError:
            self.refused = "refused"
            return
        if child == 0:
            self.burn(0.1)
            os._exit(0)
        self.burn(0.12)
