"""Thinks in a process that the newest call for that has made (`clone3`).

Must happen: what it has used is charged, or it is refused."""

import ctypes
import os

from attack import Thief, call


class Bot(Thief):
    def think(self):
        words = (ctypes.c_uint64 * 11)(0, 0, 0, 0, 17)
        try:
            child = call(435, ctypes.byref(words), ctypes.sizeof(words))
        except OSError:
            self.refused = "refused"
            return
        if child == 0:
            self.burn(0.1)
            os._exit(0)
        self.burn(0.12)
