"""Has a signal handler from the time it was loaded, and signals the process that the next call comes from.

Must happen: the next call knows nothing of it (it would play CENTER)."""

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
