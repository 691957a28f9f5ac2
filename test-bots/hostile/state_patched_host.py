"""Replaces the host's functions while it is loaded, so that the host keeps the answer of a call.

Must happen: a fault, or the next call does not find it (it would play CENTER)."""

import sys

seen = []


def watched(function):
    def call(*arguments, **words):
        result = function(*arguments, **words)
        # Only answers of calls: the host's warm-up calls these functions too.
        if "LEFT" in str(result):
            seen.append(1)
        return result

    return call


for name, module in list(sys.modules.items()):
    if name.startswith("agon_bot"):
        for key, value in list(vars(module).items()):
            if callable(value) and not isinstance(value, type) and key in ("decode", "_read_answer", "kill_children", "run_in_fork"):
                setattr(module, key, watched(value))


def get_action(state, match_history):
    return "CENTER" if seen else "LEFT"
