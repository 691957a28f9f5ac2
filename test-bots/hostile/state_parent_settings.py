"""Changes settings of the process that forked it, which the next call inherits: limits, priority, cores, scheduling,
the order in which the kernel kills. Reads figures of that process: its processor clock, its times, its priority.

Must happen: none can be set or read."""

import os
import resource

from attack import call, reached

CLOCK_GETTIME, SYSINFO = 228, 99
BEFORE = {
    "a limit": resource.getrlimit(resource.RLIMIT_MSGQUEUE),
    "its priority": os.getpriority(os.PRIO_PROCESS, 0),
    "its cores": os.sched_getaffinity(0),
    "its scheduling": os.sched_getscheduler(0),
}


def get_action(state, match_history):
    now = {
        "a limit": resource.getrlimit(resource.RLIMIT_MSGQUEUE),
        "its priority": os.getpriority(os.PRIO_PROCESS, 0),
        "its cores": os.sched_getaffinity(0),
        "its scheduling": os.sched_getscheduler(0),
    }
    for name, value in BEFORE.items():
        if now[name] != value:
            reached(name, (value, now[name]))
    parent = os.getppid()
    ways = {
        "set a limit": lambda: resource.prlimit(parent, resource.RLIMIT_MSGQUEUE, (1, 1)),
        "set the priority": lambda: os.setpriority(os.PRIO_PROCESS, parent, 19),
        "set the cores": lambda: os.sched_setaffinity(parent, {min(os.sched_getaffinity(0))}),
        "set the scheduling": lambda: os.sched_setscheduler(parent, os.SCHED_IDLE, os.sched_param(0)),
        "write to its files": lambda: open(f"/proc/{parent}/oom_score_adj", "w").write("999"),
        "read its figures": lambda: open(f"/proc/{parent}/stat").read(),
        "read its clock": lambda: call(CLOCK_GETTIME, (~parent << 3) | 2, bytes(16)),
        "read the machine's load": lambda: call(SYSINFO, bytes(256)),
    }
    for name, way in ways.items():
        try:
            way()
        except OSError:
            continue
        reached(name)
    return "LEFT"
