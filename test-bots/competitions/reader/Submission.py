# In the second phase the published results of the first one are beside the bot, in published_history.json.
try:
    from published_history import matches
except ImportError:
    matches = {}


def get_action(state, match_history):
    return ["LEFT", "RIGHT", "CENTER"][(len(matches) + state["current_turn"]) % 3]
