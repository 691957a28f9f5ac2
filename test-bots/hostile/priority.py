"""Raises its priority: nice, real time, affinity, input and output.

Must happen: refused."""

import os

from attack import TARGETS, Attacker, call, refused


class Bot(Attacker):
    def attack(self):
        refused("nice", lambda: os.nice(-5))
        refused("others less nice", lambda: os.setpriority(os.PRIO_PROCESS, TARGETS["victim"], 0))
        refused("real time", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)))
        refused("round robin", lambda: os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1)))
        refused("its processors", lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)))
        refused("the victim's processors", lambda: os.sched_setaffinity(TARGETS["victim"], os.sched_getaffinity(0)))
        refused("input and output", lambda: call(251, 1, 0, 0))
