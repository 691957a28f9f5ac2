"""Adds an audit hook while it is loaded, which cannot be removed, and reads the answer of a call from the host's frames.

Must happen: a fault, or the next call does not find it (it would play CENTER)."""

import sys

seen = []


def hook(event, arguments):
    if not event.startswith("os."):
        return
    frame = sys._getframe(1)
    while frame:
        data = frame.f_locals.get("data")
        if type(data) is bytes and b"LEFT" in data:
            seen.append(1)
        frame = frame.f_back


sys.addaudithook(hook)


def get_action(state, match_history):
    return "CENTER" if seen else "LEFT"
