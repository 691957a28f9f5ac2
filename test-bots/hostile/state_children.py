"""Leaves a child process behind in each call, which could keep state for two seconds.

Must happen: it ends with the call (the next call would see it and play CENTER)."""

import os
import time


def get_action(state, match_history):
    # Process ids are assigned in order: a process between the host and this call is a child of an earlier call.
    for pid in range(max(2, os.getppid() + 1), os.getpid()):
        try:
            os.kill(pid, 0)
        except OSError:
            continue
        return "CENTER"
    try:
        if os.fork() == 0:
            os.closerange(0, 1024)
            time.sleep(2)
            os._exit(0)
    except OSError:
        pass
    return "LEFT"
