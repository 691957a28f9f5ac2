import sys


def line():
    return sys.stdin.readline().strip()


free = [cell for cell in range(49) if cell != 24]
letter, mine = line(), line() == "1"
for turn in range(48):
    if mine:
        print("ESTARION"[turn % 8], free.pop(0), flush=True)
    else:
        line()
        print(free.pop(), flush=True)
    mine = not mine
