"""Starts a thread while it is loaded, which would run through all calls.

Must happen: rejected before any game, with the reason."""

import threading
import time

seen = []


def run():
    for _ in range(500):
        seen.append(1)
        time.sleep(0.01)


threading.Thread(target=run, daemon=True).start()


def get_action(state, match_history):
    return "CENTER" if len(seen) > 400 else "LEFT"
