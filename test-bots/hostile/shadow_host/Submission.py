"""Has a package with the name of the host's package, in the folder where Python looks first.

Must happen: the host's package is used; the bot's is not (it would play CENTER)."""


def get_action(state, match_history):
    return "LEFT"
