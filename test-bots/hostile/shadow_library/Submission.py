"""Has helper modules beside it that are called like modules of Python's library which the host needs, and that end the process.

Must happen: the host has its own; the bot plays."""


def get_action(state, match_history):
    return "LEFT"
