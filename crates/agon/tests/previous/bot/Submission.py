games = set()


def get_action(state, match_history):
    if not match_history:
        games.add(len(games))
    return "LEFT" if len(games) < 2 else "CENTER"
