"""Searches every process it can see for the other bot's secret: memory, environment, descriptors.

Must happen: it sees only its own processes."""

import os

from attack import Attacker, reached


class Bot(Attacker):
    def attack(self):
        own = {os.getpid(), os.getppid()}
        try:
            numbers = [int(name) for name in os.listdir("/proc") if name.isdigit()][:5000]
        except OSError:
            numbers = range(1, 5000)
        for pid in numbers:
            if pid in own:
                continue
            for name in ("environ", "mem", "maps", "fd", "cwd", "cmdline"):
                path = f"/proc/{pid}/{name}"
                try:
                    if name == "fd":
                        found = os.listdir(path)
                    elif name == "cwd":
                        found = os.readlink(path)
                    else:
                        with open(path, "rb") as file:
                            found = file.read(64)
                except OSError:
                    continue
                if found and name != "cmdline" or b"agon" in bytes(found):
                    reached(path, found)
