"""Connect Five, with its Python API."""

import strategies


class Gatherer:
    def get_move(self, board, player, T, N):
        return strategies.gatherer(board, player, N)


class Stacker:
    def get_move(self, board, player, T, N):
        return strategies.stacker(board)
