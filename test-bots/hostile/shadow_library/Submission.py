"""Has helper modules with the names of modules of Python's library that the host needs, and that exit the process.

Must happen: the host uses the library's modules; the bot plays."""


def get_action(state, match_history):
    return "LEFT"
