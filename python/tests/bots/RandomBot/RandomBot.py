class RandomBot:
    import random

    def get_move(self, board, player, T, N):
        valid_moves = [col for col in range(len(board[0])) if board[0][col] == 0] # Consejo: esto deber√≠a estar siempre
        return self.random.choice(valid_moves)

    def train(self):
        pass # Puedes entrenar tu bot aqu√≠ si lo deseas

    def adjust(self):
        pass # Puedes ajustar tu bot aqu√≠ si lo deseas
