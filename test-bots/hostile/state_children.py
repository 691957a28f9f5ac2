"""Leaves a child process behind in each call, which could remember what it saw for two seconds.

Must happen: it ends with the call (the next would see it and play CENTER)."""

import os
import time


def get_action(state, match_history):
    # Numbers are given in order: what came after the host and before this call is a child of an earlier one.
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
