"""Kills the process that made it for a call, and everyone it can see, with harmless signals first.

Must happen: at most its own games suffer; each game starts anew."""

import os
import signal

from attack import TARGETS, refused


def get_action(state, match_history):
    refused("a stranger", lambda: os.kill(TARGETS["victim"], signal.SIGWINCH))
    if state["current_turn"] == 2:
        # Its own host, in its own namespace: nobody else's.
        os.kill(os.getppid(), signal.SIGURG)
        os.closerange(0, 65536)
    return "LEFT"
