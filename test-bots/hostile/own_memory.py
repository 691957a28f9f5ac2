"""Writes to its own read-only pages through `/proc/self/mem`.

Must happen: refused."""

import ctypes

from attack import Attacker, refused


class Bot(Attacker):
    def attack(self):
        place = ctypes.cast(ctypes.pythonapi.Py_IncRef, ctypes.c_void_p).value

        def change():
            with open("/proc/self/mem", "r+b", buffering=0) as memory:
                memory.seek(place)
                same = memory.read(1)
                memory.seek(place)
                return memory.write(same)

        refused("its own code", change)
