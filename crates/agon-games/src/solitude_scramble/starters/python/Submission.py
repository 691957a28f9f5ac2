"""starter-bot: expects the others to do what they have done before, and goes where it is most likely to be alone.

Every call is a new life: nothing is kept from one call to the next. All there is to know is in the two arguments.
"""

MOVES = ("LEFT", "RIGHT", "CENTER")

# Where a move leads, by the side a bot stands on this turn.
PLATFORMS = {
    "NORTH": {"LEFT": "NE", "RIGHT": "NW", "CENTER": "CENTER"},
    "EAST": {"LEFT": "SE", "RIGHT": "NE", "CENTER": "CENTER"},
    "SOUTH": {"LEFT": "SW", "RIGHT": "SE", "CENTER": "CENTER"},
    "WEST": {"LEFT": "NW", "RIGHT": "SW", "CENTER": "CENTER"},
}


def get_action(state, match_history):
    """One of "LEFT", "RIGHT" and "CENTER"."""
    mine = PLATFORMS[state["my_position"]]
    # Your idea goes here: what is a move worth? What kind of bot is each of the others?
    return max(MOVES, key=lambda move: worth(mine[move], state, match_history))


def worth(platform, state, match_history):
    """The platform's points, times the chance to be alone on it."""
    chance = 1.0
    for bot, side in state["opponent_positions"].items():
        chance *= 1.0 - chance_of(bot, side, platform, match_history)
    return state["platform_scores"][platform] * chance


def chance_of(bot, side, platform, match_history):
    """How likely a bot on this side goes to this platform, judged by its moves so far."""
    # Every move counts once before the match, so that nothing is impossible.
    counts = dict.fromkeys(MOVES, 1)
    for turn in match_history:
        move = turn["player_move"].get(bot)
        if move in counts:  # "NONE" for a bot that made no move
            counts[move] += 1
    there = sum(counts[move] for move in MOVES if PLATFORMS[side][move] == platform)
    return there / sum(counts.values())
