"""Solitude Scramble, with its Python API: uses the history too."""

import strategies


def get_action(state, match_history):
    blanks = sum(state["my_id"] not in turn["scores_awarded"] for turn in match_history)
    return strategies.wary(state["platform_scores"], state["my_position"], blanks)
