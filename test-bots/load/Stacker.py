"""Connect Five: thinks, then drops into the column with its own pieces. A game of two of them is short."""

from thinking import think


class Stacker:
    def get_move(self, board, player, T, N):
        think()
        return 0 if player == 1 else 8
