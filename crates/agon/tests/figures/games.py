"""Plays recorded games again, straight from the written rules, without any code of Agon.

Each function gets a game of `agon replay --json --frames` (and what `agon export` wrote beside it) and returns the score of each seat. It fails if the
record breaks a rule that the score depends on. Only the start of the game (board, positions, ids) is taken from the record's first frame.
"""

OTHER = {0: 1, 1: 0}
FAULTS = ("!timeout", "!crash", "!illegal", "!garbled")


def expect(condition, *what):
    """Fails with a message if the condition does not hold."""
    if not condition:
        raise SystemExit("wrong: " + " ".join(str(part) for part in what))


def answers(game):
    """The answers of each turn."""
    return [turn.split() for turn in game["turns"]]


def first_frame(game):
    """The position at the start."""
    return game["frames"]["first"]


# Solitude Scramble

PLATFORMS = {
    "NORTH": {"LEFT": "NE", "RIGHT": "NW"},
    "EAST": {"LEFT": "SE", "RIGHT": "NE"},
    "SOUTH": {"LEFT": "SW", "RIGHT": "SE"},
    "WEST": {"LEFT": "NW", "RIGHT": "SW"},
}


def solitude_turn(turn):
    """The points of each bot in a turn of the published history."""
    stands = {}
    for side, bot in turn["players_map"].items():
        move = turn["player_move"][bot]
        if move != "NONE":
            stands[bot] = "CENTER" if move == "CENTER" else PLATFORMS[side][move]
    places = list(stands.values())
    points = {bot: turn["platform_scores"][place] for bot, place in stands.items() if places.count(place) == 1}
    expect(turn["scores_awarded"] == points, "scores_awarded", turn, points)
    expect(all(1 <= score <= 6 for score in turn["platform_scores"].values()), "platform scores", turn)
    return points


def solitude(match, turns):
    """The points of each bot in a match of the published history."""
    expect(len(set(match["players"])) == 4, "four different bots", match["players"])
    expect([turn["turn"] for turn in match["turn_data"]] == list(range(1, turns + 1)), "turns of a match")
    totals = dict.fromkeys(match["players"], 0)
    for turn in match["turn_data"]:
        for bot, points in solitude_turn(turn).items():
            totals[bot] += points
    expect(match["final_scores"] == totals, "final_scores", match["final_scores"], totals)
    return [totals[bot] for bot in match["players"]]


# Colour Battle

STEPS = {"U": (0, 1), "D": (0, -1), "L": (-1, 0), "R": (1, 0), "S": (0, 0)}


def painted(floor, own):
    """The colour of a tile with one bot on it."""
    return own if floor == 0 else [floor, 0, own][(own - floor) % 3]


def colour_battle(game, rounds):
    """The share of each seat in per cent."""
    start = first_frame(game)
    side, bots = start["side"], sorted(start["bots"], key=lambda bot: bot["seat"])
    expect(side * side >= 64 * len(bots) > (side - 1) * (side - 1), "side of the grid", side)
    expect(sorted(bot["id"] for bot in bots) == list(range(1, len(bots) + 1)), "ids")
    ids, at = [bot["id"] for bot in bots], [tuple(bot["position"]) for bot in bots]
    grid = {}
    expect(len(game["turns"]) == rounds, "rounds of a game", len(game["turns"]), rounds)
    for turn in answers(game):
        for seat, answer in enumerate(turn):
            dx, dy = STEPS["S" if answer in FAULTS or answer == "-" else answer]
            x, y = at[seat][0] + dx, at[seat][1] + dy
            if 0 <= x < side and 0 <= y < side:
                at[seat] = (x, y)
        for own, here in zip(ids, at):
            grid[here] = painted(grid.get(here, 0), own) if at.count(here) == 1 else 0
    tiles = list(grid.values())
    return [100 * tiles.count(own) / side**2 for own in ids]


# Connect Five

COLUMNS, ROWS = 9, 7


def five_in_line(board):
    """The player with five in a line, or None."""
    for row in range(ROWS):
        for column in range(COLUMNS):
            for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
                cells = [(row + dr * i, column + dc * i) for i in range(5)]
                if all(0 <= r < ROWS and 0 <= c < COLUMNS for r, c in cells):
                    marks = {board[r][c] for r, c in cells}
                    if len(marks) == 1 and marks != {0}:
                        return marks.pop()
    return None


def check_drop(before, after, player, named, special):
    """A piece falls to the lowest free cell of the named column, or of a neighbour of a special column."""
    changed = [(r, c) for r in range(ROWS) for c in range(COLUMNS) if before[r][c] != after[r][c]]
    expect(len(changed) == 1, "one piece for each move", changed)
    (row, column), = changed
    expect(after[row][column] == player and before[row][column] == 0, "the mover's piece on a free cell")
    expect(row == ROWS - 1 or before[row + 1][column] != 0, "a piece falls to the lowest free cell")
    expect(before[0][named] == 0, "a full column is illegal")
    expect(column == named or named in special and abs(column - named) == 1, "only special columns move a piece")


def connect_five(game, log):
    """The score of each seat, and the seat that loses the whole match (or None). `log` is the file of `agon export`."""
    start, first = first_frame(game), game["header"]["settings"]["first"]
    boards = [[[0] * COLUMNS for _ in range(ROWS)]] + [turn["board"] for turn in log["turns"]]
    winner = None
    for number, (answer,) in enumerate(answers(game)):
        seat = first if number % 2 == 0 else OTHER[first]
        expect(winner is None, "no move after the end")
        if answer in FAULTS:
            expect(number == len(game["turns"]) - 1, "a fault ends the game")
            scores = [0.0, 0.0]
            scores[OTHER[seat]] = 1.0
            return scores, (seat if answer in ("!crash", "!garbled") else None)
        check_drop(boards[number], boards[number + 1], 1 + number % 2, int(answer), start["special"])
        winner = five_in_line(boards[number + 1])
    if winner is None:
        expect(all(boards[-1][0]), "a game without a line ends with a full board")
        return [0.5, 0.5], None
    seat = first if winner == 1 else OTHER[first]
    return [1.0 if seat == one else 0.0 for one in (0, 1)], None


# Hide and Seek


def hide_and_seek(game, steps):
    """The number of steps, and whether the hider was caught. The clock does not run out in these games."""
    start = first_frame(game)
    walls, at = start["map"], [start["seeker"]["spawn"], start["hider"]["spawn"]]
    expect(all(walls[x][y] == 0 for x, y in at), "spawns on empty cells")
    moves = iter(answers(game))
    for step in range(1, steps + 1):
        for seat in (0, 1) if step % 2 == 0 else (0,):
            (answer,) = next(moves)
            at[seat] = walked(walls, at[seat], answer)
            if at[0] == at[1]:
                expect(next(moves, None) is None, "no move after the catch")
                return step, True
    expect(next(moves, None) is None, "no move after the last step")
    return steps, False


def walked(walls, here, answer):
    """The cell after a move; the same one after a fault or a move that breaks the rules."""
    if answer in FAULTS:
        return here
    directions = {"L": (-1, 0), "R": (1, 0), "U": (0, -1), "D": (0, 1), "S": (0, 0)}
    if answer in directions:
        there = [here[0] + directions[answer][0], here[1] + directions[answer][1]]
    else:
        there = [int(part) for part in answer.strip("@").split(",")]
    inside = all(0 <= part < 20 for part in there)
    near = abs(there[0] - here[0]) + abs(there[1] - here[1]) <= 1
    return there if inside and near and walls[there[0]][there[1]] == 0 else here


# Word Racer

WORD_POINTS = {2: 1, 3: 2, 4: 3, 5: 5, 6: 8, 7: 13}


def line_points(line, words):
    """The most points of words in a line that do not overlap."""
    best = [0] * (len(line) + 1)
    for end in range(1, len(line) + 1):
        found = [best[end - n] + points for n, points in WORD_POINTS.items() if n <= end and line[end - n : end] in words]
        best[end] = max([best[end - 1]] + found)
    return best[-1]


def board_points(cells, words):
    """The word points of a board: rows and columns."""
    lines = ["".join(cells[7 * i + j] or "." for j in range(7)) for i in range(7)]
    lines += ["".join(cells[7 * j + i] or "." for j in range(7)) for i in range(7)]
    return sum(line_points(line, words) for line in lines)


def word_racer(game, words):
    """The points of each seat (3, 1, 0), and its word points."""
    start, first = first_frame(game), game["header"]["settings"]["first"]
    boards = [[None] * 49, [None] * 49]
    for board in boards:
        board[24] = start["start"]
    moves, faulty = iter(answers(game)), None
    for turn in range(48):
        caller = first if turn % 2 == 0 else OTHER[first]
        letter = None
        for seat in (caller, OTHER[caller]):
            (answer,) = next(moves)
            if answer in FAULTS:
                faulty = seat
                break
            letter = answer[0] if seat == caller else letter
            position = int(answer[1:] if seat == caller else answer)
            expect(boards[seat][position] is None, "each letter on an empty cell")
            boards[seat][position] = letter
        if faulty is not None:
            break
    expect(next(moves, None) is None, "no answer after the end")
    points = [board_points(board, words) for board in boards]
    if faulty is not None:
        return [0 if seat == faulty else 3 for seat in (0, 1)], points
    if points[0] == points[1]:
        return [1, 1], points
    return [3 if points[seat] == max(points) else 0 for seat in (0, 1)], points
