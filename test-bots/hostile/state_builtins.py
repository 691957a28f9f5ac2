"""Keeps state in built-ins, in the import path, in warnings filters and in codecs.

Must happen: the next call does not find it (it would play CENTER)."""

import builtins
import codecs
import sys


def get_action(state, match_history):
    try:
        codecs.lookup("kept_by_me")
        remembered = True
    except LookupError:
        remembered = hasattr(builtins, "kept") or "kept" in sys.path
    builtins.kept = 1
    sys.path.append("kept")
    codecs.register(lambda name: codecs.lookup("utf-8") if name == "kept_by_me" else None)
    return "CENTER" if remembered else "LEFT"
