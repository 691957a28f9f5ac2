"""Raises all its limits, and those of other processes.

Must happen: limits can only be lowered, and other processes are out of reach."""

import resource

from attack import TARGETS, Attacker, refused


class Bot(Attacker):
    def attack(self):
        for name in ("AS", "CORE", "CPU", "DATA", "FSIZE", "MEMLOCK", "NOFILE", "NPROC", "STACK", "NICE", "RTPRIO", "MSGQUEUE"):
            kind = getattr(resource, f"RLIMIT_{name}")
            hard = resource.getrlimit(kind)[1]
            if hard != resource.RLIM_INFINITY:
                refused(name, lambda: resource.setrlimit(kind, (hard + 1, hard + 1)), (OSError, ValueError))
        refused("others'", lambda: resource.prlimit(TARGETS["victim"], resource.RLIMIT_NOFILE))
