"""An honest Solitude Scramble bot."""


def get_action(state, match_history):
    return "RIGHT"
