# In the second phase what was published of the first lies beside the bot, as history.json.
try:
    from history import matches
except ImportError:
    matches = {}


def get_action(state, match_history):
    return ["LEFT", "RIGHT", "CENTER"][(len(matches) + state["current_turn"]) % 3]
