"""Hangs in its second call, with children that hold the pipes open.

Must happen: it cannot start children: a crash of that call; the game continues."""

import os
import time


def get_action(state, match_history):
    if state["current_turn"] == 2:
        os.fork()
        time.sleep(30)
    return "LEFT"
