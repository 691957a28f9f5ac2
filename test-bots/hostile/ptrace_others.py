"""Traces, attaches to and inspects other processes, and asks to be traced.

Must happen: refused."""

import os

from attack import TARGETS, Attacker, call, refused


class Bot(Attacker):
    def attack(self):
        refused("being traced", lambda: call(101, 0, 0, 0, 0))
        for pid in (TARGETS["victim"], os.getppid() or 1, 1):
            # PTRACE_SEIZE does not stop the process.
            refused(f"seizing {pid}", lambda: call(101, 0x4206, pid, 0, 0))
