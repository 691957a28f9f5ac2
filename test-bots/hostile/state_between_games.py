"""Keeps state for the next game of a series, in all simple ways of the other bots.

Must happen: the next game does not find it (it would play CENTER)."""

import builtins
import os
import random
import sys

from attack import TARGETS


def get_action(state, match_history):
    path = os.path.join("/tmp", TARGETS["token"] + "-game")
    marks = [hasattr(builtins, "kept"), hasattr(random, "kept"), "kept" in sys.modules, os.path.exists(path)]
    builtins.kept = random.kept = sys.modules["kept"] = 1
    try:
        open(path, "w").close()
    except OSError:
        pass
    return "CENTER" if any(marks) else "LEFT"
