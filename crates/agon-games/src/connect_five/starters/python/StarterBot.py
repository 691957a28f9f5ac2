"""starter-bot: wins if it can, blocks if it must, and otherwise stays near the middle.

The class must have the same name as this file. One object plays all games of a match.
"""

COLUMNS, ROWS = 9, 7

# A piece near the middle is part of more lines.
FAVOURITES = (4, 3, 5, 2, 6, 1, 7, 0, 8)


class StarterBot:
    def get_move(self, board, player, T, N):
        """A column from 0 to 8. `board[0]` is the top row; 0 is empty, 1 and 2 are the players. `player` is your
        number, T the seconds for the move, N the number of games already played in this match."""
        legal = [column for column in FAVOURITES if board[0][column] == 0]
        opponent = 3 - player
        for who in (player, opponent):
            for column in legal:
                if wins(board, column, who):
                    return column
        # Your idea goes here: look further ahead, or find out which two columns are special.
        safe = [column for column in legal if not helps(board, column, player)]
        return (safe or legal)[0]

    def adjust(self):
        """Called after each game: learn from it here. You have 10 seconds."""

    def train(self):
        """Called after each match. Files in the folder data/ are kept for the next match."""


def landing_row(board, column):
    """The row where a piece dropped into this column lands; None if it is full."""
    return next((row for row in reversed(range(ROWS)) if board[row][column] == 0), None)


def wins(board, column, player):
    """Whether a piece dropped into this column makes five in a line."""
    row = landing_row(board, column)
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        line = 1 + run(board, row, column, down, right, player) + run(board, row, column, -down, -right, player)
        if line >= 5:
            return True
    return False


def run(board, row, column, down, right, player):
    """Number of consecutive pieces of a player from a cell in one direction."""
    length = 0
    row, column = row + down, column + right
    while 0 <= row < ROWS and 0 <= column < COLUMNS and board[row][column] == player:
        length += 1
        row, column = row + down, column + right
    return length


def helps(board, column, player):
    """Whether my piece in this column lets the opponent win on top of it."""
    row = landing_row(board, column)
    if row == 0:
        return False
    board[row][column] = player
    helped = wins(board, column, 3 - player)
    board[row][column] = 0
    return helped
