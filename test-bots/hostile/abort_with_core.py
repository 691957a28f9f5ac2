"""Raises its limit for core dumps, allocates 64 MiB and aborts.

Must happen: the limit stays, a crash that names the signal, and no core file."""

import os
import resource

from attack import Attacker, refused


class Bot(Attacker):
    def attack(self):
        raised = lambda: resource.setrlimit(resource.RLIMIT_CORE, (1 << 30, 1 << 30))
        refused("core dumps", raised, (OSError, ValueError))
        self.kept = bytearray(64 << 20)
        os.abort()
