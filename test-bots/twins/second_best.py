"""Solitude Scramble, with its Python API."""

import strategies


def get_action(state, match_history):
    return strategies.second_best(state["platform_scores"], state["my_position"])
