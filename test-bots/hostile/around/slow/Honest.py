"""An honest Connect Five bot that is slow: it answers column 8 after 0.4 s."""

import time


class Honest:
    def get_move(self, board, player, T, N):
        time.sleep(0.4)
        return 8
