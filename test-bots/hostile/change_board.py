"""Changes the board that it got: all pieces become its own.

Must happen: it has changed its own copy."""

from attack import Attacker


class Bot(Attacker):
    def get_move(self, board, player, T, N):
        for row in board:
            row[:] = [player] * 9
        board.clear()
        return 0
