"""Solitude Scramble: thinks, then goes left."""

from thinking import think


def get_action(state, match_history):
    think()
    return "LEFT"
