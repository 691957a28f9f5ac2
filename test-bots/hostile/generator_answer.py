"""Returns an endless generator.

Must happen: garbled; nothing is read from it."""


class Bot:
    def get_move(self, board, player, T, N):
        while True:
            print("REACHED a step of the generator", flush=True)
            yield 0
