"""Calls `sys.exit(0)` while it is imported.

Must happen: a crash that says where."""

import sys

sys.exit(0)


class Bot:
    def get_move(self, board, player, T, N):
        return 0
