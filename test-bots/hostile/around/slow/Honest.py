"""An honest Connect Five bot that takes its time: a quarter of a second for column 8."""

import time


class Honest:
    def get_move(self, board, player, T, N):
        time.sleep(0.25)
        return 8
