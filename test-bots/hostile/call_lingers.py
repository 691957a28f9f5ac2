"""Writes its answer itself, and then continues to compute for at most ten seconds.

Must happen: it is killed after two seconds, before the next call starts, or the answer is rejected."""

import os
import time

from attack import pipes


def get_action(state, match_history):
    number = 2 + state["current_turn"]
    for end in pipes():
        try:
            os.write(end, b"=" + number.to_bytes(4, "little") + b"LEFT")
        except OSError:
            pass
    end = time.monotonic() + 10
    while time.monotonic() < end:
        pass
    os._exit(77)
