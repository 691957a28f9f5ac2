"""Connect Five: thinks, then drops where its own pieces are. Two of them are soon done with each other."""

from thinking import think


class Stacker:
    def get_move(self, board, player, T, N):
        think()
        return 0 if player == 1 else 8
