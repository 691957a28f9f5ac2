def get_action(state, match_history):
    """
    This function is called by the game runner every turn.
    Your bot must analyze the provided data and return one of
    the three valid move strings: "LEFT", "RIGHT", or "CENTER".
    """
    
    # Your brilliant logic goes here.
    
    return "LEFT"
