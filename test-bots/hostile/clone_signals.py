"""Starts children that are its brothers (`CLONE_PARENT`), or that end with SIGCONT instead of SIGCHLD, which would
wake a stopped bot.

Must happen: both are refused."""

import os
import signal

from attack import Attacker, call, reached


class Bot(Attacker):
    def attack(self):
        for name, flags in (("a brother", 0x8000 | signal.SIGCHLD), ("an end with SIGCONT", signal.SIGCONT)):
            try:
                child = call(56, flags, 0, 0, 0, 0)
            except OSError:
                continue
            if child == 0:
                os._exit(0)
            reached(name, child)
