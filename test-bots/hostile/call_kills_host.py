"""Kills the process that forked it for a call, and all processes it can see, with harmless signals first.

Must happen: at most its own games suffer; each game starts with a new process."""

import os
import signal

from attack import TARGETS, refused


def get_action(state, match_history):
    refused("a stranger", lambda: os.kill(TARGETS["victim"], signal.SIGWINCH))
    if state["current_turn"] == 2:
        # Only its own host, in its own namespace.
        os.kill(os.getppid(), signal.SIGURG)
        os.closerange(0, 65536)
    return "LEFT"
