"""An honest Connect Five bot that is slow: it answers column 8 after a quarter of a second."""

import time


class Honest:
    def get_move(self, board, player, T, N):
        time.sleep(0.25)
        return 8
