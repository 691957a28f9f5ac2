"""Calls `sys.exit(0)` while it is imported.

Must happen: rejected before any game, with the line."""

import sys

sys.exit(0)


class Bot:
    def get_move(self, board, player, T, N):
        return 0
