"""Hangs in its second call, with children that hold the pipes open.

Must happen: it can start no child: a crash of that call; the game goes on."""

import os
import time


def get_action(state, match_history):
    if state["current_turn"] == 2:
        os.fork()
        time.sleep(30)
    return "LEFT"
