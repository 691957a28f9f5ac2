"""Writes to its log without end, for at most three seconds and 256 MiB, in each call.

Must happen: at most its own time is lost; the record stays small."""

import os
import time


def get_action(state, match_history):
    end = time.monotonic() + 3
    for _ in range(4096):
        os.write(2, b"x" * 65536)
        if time.monotonic() > end:
            break
    return "LEFT"
