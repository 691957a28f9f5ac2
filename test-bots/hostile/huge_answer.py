"""Returns 10 to the power of 100,000.

Must happen: illegal; the number is not sent anywhere."""


class Bot:
    def get_move(self, board, player, T, N):
        return 10**100_000
