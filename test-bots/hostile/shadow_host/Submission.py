"""Brings a package along that is called like the host's own, and lies where Python looks first.

Must happen: the host's own is run; the bot's is nobody's (it would play CENTER)."""


def get_action(state, match_history):
    return "LEFT"
