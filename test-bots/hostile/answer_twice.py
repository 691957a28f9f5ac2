"""Writes its answer itself, and then returns another one.

Must happen: only the first one counts, or garbled."""

import os

from attack import pipes


def get_action(state, match_history):
    number = 2 + state["current_turn"]
    for end in pipes():
        try:
            os.write(end, b"=" + number.to_bytes(4, "little") + b"LEFT")
        except OSError:
            pass
    return "LEFT"
