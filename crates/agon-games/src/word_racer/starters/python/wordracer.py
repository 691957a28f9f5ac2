"""starter-bot: writes each letter where it gives the most points at once, and calls the letter that gives the most.

Speaks Word Racer's text protocol: letters come on stdin, `LETTER POSITION` or `POSITION` goes to stdout. Print debug
output to stderr, because stdout is only for answers.
"""

SIDE = 7
EMPTY = "."
LETTERS = "EARIOTNSLCUDPMHGBFYWKVXZJQ"  # most useful first
POINTS = {2: 1, 3: 2, 4: 3, 5: 5, 6: 8, 7: 13}


def read_words():
    """The valid words, from `words.dat` in the bot's folder."""
    try:
        with open("words.dat") as file:
            return {line.strip() for line in file}
    except OSError:
        return set()  # the bot plays with no words


WORDS = read_words()


class Board:
    """49 cells, row by row."""

    def __init__(self):
        self.cells = [EMPTY] * (SIDE * SIDE)

    def free(self):
        return [position for position, cell in enumerate(self.cells) if cell == EMPTY]

    def row(self, position):
        start = position // SIDE * SIDE
        return "".join(self.cells[start : start + SIDE])

    def column(self, position):
        return "".join(self.cells[position % SIDE :: SIDE])

    def gain(self, letter, position):
        """Points that a letter on this position adds at once."""
        before = points(self.row(position)) + points(self.column(position))
        self.cells[position] = letter
        after = points(self.row(position)) + points(self.column(position))
        self.cells[position] = EMPTY
        return after - before


def points(line):
    """Maximum points of the words in this row or column, each cell used once."""
    best = [0] * (SIDE + 1)  # best[end]: maximum for the cells before `end`
    for end in range(1, SIDE + 1):
        best[end] = best[end - 1]
        for start in range(end - 1):
            if line[start:end] in WORDS:
                best[end] = max(best[end], best[start] + POINTS[end - start])
    return best[SIDE]


def call(board):
    """The letter that I call, and its position on my board."""
    # Your idea goes here: plan longer words, and consider the letter's value for the other player.
    options = [(letter, position) for letter in LETTERS for position in board.free()]
    return max(options, key=lambda option: board.gain(*option))


def place(board, letter):
    """Position on my board for a letter that the other player called."""
    # Your idea goes here: keep good cells for long words, and put useless letters aside.
    return max(board.free(), key=lambda position: board.gain(letter, position))


def main():
    board = Board()
    board.cells[24] = input().strip()
    my_call = input().strip() == "1"
    while board.free():
        if my_call:
            letter, position = call(board)
            print(letter, position, flush=True)
        else:
            letter = input().strip()
            position = place(board, letter)
            print(position, flush=True)
        board.cells[position] = letter
        my_call = not my_call


if __name__ == "__main__":  # not when a test imports this file
    main()
