"""Sets the machine's clock to the current time and changes its speed by zero: harmless if it worked.

Must happen: both are refused."""

import ctypes
import time

from attack import Attacker, call, refused


class Bot(Attacker):
    def attack(self):
        now = (ctypes.c_long * 2)(int(time.time()), 0)
        refused("time", lambda: time.clock_settime(time.CLOCK_REALTIME, time.time()))
        refused("time by its call", lambda: call(227, 0, now))
        refused("time of day", lambda: call(164, now, None))
        # ADJ_TICK with the current tick.
        refused("the tick", lambda: call(159, ctypes.create_string_buffer((0x4000).to_bytes(8, "little") + bytes(200), 208)))
