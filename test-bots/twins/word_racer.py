"""Word Racer, with its text protocol."""

import strategies

racer = strategies.ZRacer()
board = "." * 24 + input() + "." * 24
calls = input() == "1"
while "." in board:
    letter = "Z" if calls else input()
    position = racer.position(board, letter)
    board = board[:position] + letter + board[position + 1 :]
    print(f"{letter} {position}" if calls else position, flush=True)
    calls = not calls
