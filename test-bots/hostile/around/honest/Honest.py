"""An honest Connect Five bot: always column 8."""


class Honest:
    def __init__(self):
        with open("secret.txt") as file:
            self.secret = file.read()

    def get_move(self, board, player, T, N):
        return 8
