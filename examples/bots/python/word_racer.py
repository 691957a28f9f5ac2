"""A bot that uses Word Racer's text protocol: letters on stdin, `LETTER POSITION` or `POSITION` on stdout."""

board = ["."] * 49


def place(letter: str) -> int:
    """Writes a letter into the first empty cell."""
    position = board.index(".")
    board[position] = letter
    return position


board[24] = input().strip()
calls = input().strip() == "1"
while "." in board:
    if calls:
        letter = "ETAOINSHRDLU"[board.count(".") % 12]
        print(letter, place(letter), flush=True)
    else:
        print(place(input().strip()), flush=True)
    calls = not calls
