"""Random bots for the Python APIs: the same seed gives the same moves."""

import random


def get_action(state, match_history):
    return random.choice(["LEFT", "RIGHT", "CENTER"])


class Column:
    def get_move(self, board, player, T, N):
        return random.choice([column for column in range(9) if board[0][column] == 0])
