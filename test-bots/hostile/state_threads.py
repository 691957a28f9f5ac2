"""Leaves threads that keep state and pass it to the next call by a file, a pipe or a variable.

Must happen: they end with the call (the next call would play CENTER)."""

import os
import threading
import time

told = []
read, write = os.pipe()
os.set_blocking(read, False)


def remember():
    for _ in range(200):
        told.append(1)
        try:
            os.write(write, b"x")
        except OSError:
            pass
        time.sleep(0.01)


def get_action(state, match_history):
    remembered = bool(told)
    try:
        remembered |= bool(os.read(read, 1))
    except OSError:
        pass
    try:
        threading.Thread(target=remember).start()
    except RuntimeError:
        pass
    return "CENTER" if remembered else "LEFT"
