class first_column:
    def get_move(self, board, player, T, N):
        top = board[0]
        for column in (4, 3, 5, 2, 6, 1, 7, 0, 8):
            if top[column] == 0:
                return column
