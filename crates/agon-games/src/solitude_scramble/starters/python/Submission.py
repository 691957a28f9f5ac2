"""starter-bot: predicts the others from their earlier moves, and goes where it is most likely to be alone.

Nothing is kept from one call to the next. The two arguments contain everything.
"""

MOVES = ("LEFT", "RIGHT", "CENTER")

# Target of each move, by the side on which a bot stands in this turn.
PLATFORMS = {
    "NORTH": {"LEFT": "NE", "RIGHT": "NW", "CENTER": "CENTER"},
    "EAST": {"LEFT": "SE", "RIGHT": "NE", "CENTER": "CENTER"},
    "SOUTH": {"LEFT": "SW", "RIGHT": "SE", "CENTER": "CENTER"},
    "WEST": {"LEFT": "NW", "RIGHT": "SW", "CENTER": "CENTER"},
}


def get_action(state, match_history):
    """One of "LEFT", "RIGHT" and "CENTER"."""
    mine = PLATFORMS[state["my_position"]]
    # Your idea goes here: how valuable is a move? Which strategy does each of the others use?
    return max(MOVES, key=lambda move: worth(mine[move], state, match_history))


def worth(platform, state, match_history):
    """The platform's points, times the probability to be alone on it."""
    chance = 1.0
    for bot, side in state["opponent_positions"].items():
        chance *= 1.0 - chance_of(bot, side, platform, match_history)
    return state["platform_scores"][platform] * chance


def chance_of(bot, side, platform, match_history):
    """Probability that a bot on this side goes to this platform, estimated from its moves so far."""
    # Start each count at 1, so that no move has probability 0.
    counts = dict.fromkeys(MOVES, 1)
    for turn in match_history:
        move = turn["player_move"].get(bot)
        if move in counts:  # "NONE" for a bot that made no move
            counts[move] += 1
    there = sum(counts[move] for move in MOVES if PLATFORMS[side][move] == platform)
    return there / sum(counts.values())
