"""Makes a program in memory and runs it, and one in a file that it writes.

Must happen: both fail."""

import os

from attack import TARGETS, Attacker, refused


class Bot(Attacker):
    def attack(self):
        refused("a memory file", lambda: os.memfd_create("evil"))
        for folder in (".", "data", "/tmp", "/dev/shm"):
            path = os.path.join(folder, TARGETS["token"] + "-program")

            def run():
                with open(path, "wb") as file:
                    file.write(b"#!/bin/sh\necho evil\n")
                os.chmod(path, 0o755)
                return os.posix_spawn(path, [path], {})

            refused(path, run)
