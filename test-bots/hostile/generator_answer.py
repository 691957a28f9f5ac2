"""Returns a generator without an end.

Must happen: garbled; nothing is taken from it."""


class Bot:
    def get_move(self, board, player, T, N):
        while True:
            print("REACHED a step of the generator", flush=True)
            yield 0
