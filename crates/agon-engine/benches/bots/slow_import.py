"""A bot whose import takes three seconds."""

import time

time.sleep(3)


class slow_import:
    def get_move(self, board, player, T, N):
        return board[0].index(0)
