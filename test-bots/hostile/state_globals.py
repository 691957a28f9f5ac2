"""Keeps state in globals, in default arguments, on functions and in closures.

Must happen: the next call does not find it (it would play CENTER)."""

seen = []


def get_action(state, match_history, kept=[]):
    remembered = bool(seen or kept or hasattr(get_action, "kept"))
    seen.append(1)
    kept.append(1)
    get_action.kept = 1
    return "CENTER" if remembered else "LEFT"
