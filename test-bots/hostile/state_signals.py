"""Installs a signal handler while it is loaded, and signals the process that forks the next call.

Must happen: the next call does not find it (it would play CENTER)."""

import os
import signal
import time

seen = []
signal.signal(signal.SIGURG, lambda *_: seen.append(1))


def get_action(state, match_history):
    remembered = bool(seen)
    try:
        os.kill(os.getppid(), signal.SIGURG)
    except OSError:
        pass
    time.sleep(0.02)
    return "CENTER" if remembered else "LEFT"
