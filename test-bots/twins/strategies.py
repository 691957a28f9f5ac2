"""The strategies as functions. The other files in this folder call them, each with another API.

`crates/agon/tests/twins.rs` has the same strategies in Rust, or names the house bot with that strategy.
"""

from collections import deque

# Solitude Scramble

PLATFORMS = {
    "NORTH": {"LEFT": "NE", "RIGHT": "NW", "CENTER": "CENTER"},
    "EAST": {"LEFT": "SE", "RIGHT": "NE", "CENTER": "CENTER"},
    "SOUTH": {"LEFT": "SW", "RIGHT": "SE", "CENTER": "CENTER"},
    "WEST": {"LEFT": "NW", "RIGHT": "SW", "CENTER": "CENTER"},
}


def by_value(scores, side):
    """The three moves, most points first; ties in the order CENTER, LEFT, RIGHT."""
    return sorted(("CENTER", "LEFT", "RIGHT"), key=lambda move: -scores[PLATFORMS[side][move]])


def second_best(scores, side):
    """The house bot `second-best`."""
    return by_value(scores, side)[1]


def wary(scores, side, blanks):
    """The move one rank lower after each turn without points."""
    return by_value(scores, side)[blanks % 3]


# Colour Battle

STEPS = {"UP": (0, 1), "DOWN": (0, -1), "LEFT": (-1, 0), "RIGHT": (1, 0)}


def colour_step(position, step, size):
    """The cell after a step; a step off the edge stays."""
    x, y = position[0] + STEPS[step][0], position[1] + STEPS[step][1]
    return (x, y) if 0 <= x < size and 0 <= y < size else tuple(position)


def taker(own, position, grid, others, current_round, size):
    """The first neighbouring tile that it can paint immediately and that no bot stands on; else the first one."""
    names = list(STEPS)
    order = names[current_round % 4 :] + names[: current_round % 4]
    ways = [(step, colour_step(position, step, size)) for step in order]
    ways = [(step, to) for step, to in ways if to != tuple(position)]
    for step, (x, y) in ways:
        floor = grid[y][x]
        takes = floor == 0 or (own - floor) % 3 == 2
        if takes and (x, y) not in others:
            return step
    return ways[0][0]


class Sweeper:
    """The house bot `sweeper`: row by row, with directions from its seed."""

    def __init__(self, seed):
        self.across = "LEFT" if seed & 1 else "RIGHT"
        self.along = "DOWN" if seed & 2 else "UP"

    def step(self, position, size):
        blocked = lambda step: colour_step(position, step, size) == tuple(position)
        if not blocked(self.across):
            return self.across
        self.across = "LEFT" if self.across == "RIGHT" else "RIGHT"
        if blocked(self.along):
            self.along = "DOWN" if self.along == "UP" else "UP"
        return self.along


# Connect Five


def gatherer(board, player, played):
    """The column with the most neighbouring pieces, own pieces first; ties from a start column that changes with each game."""
    best, most = 0, -1
    for i in range(9):
        column = (4 + played + i) % 9
        if board[0][column]:
            continue
        row = max(row for row in range(7) if board[row][column] == 0)
        around = [
            board[y][x]
            for y in range(max(row - 1, 0), min(row + 2, 7))
            for x in range(max(column - 1, 0), min(column + 2, 9))
        ]
        worth = sum(3 if piece == player else 2 for piece in around if piece)
        if worth > most:
            best, most = column, worth
    return best


def stacker(board):
    """The house bot `stacker`."""
    return next(column for column in range(9) if board[0][column] == 0)


# Hide and Seek

WAYS = ((-1, 0), (1, 0), (0, -1), (0, 1), (0, 0))


def distances(walls, start):
    """The number of steps from a cell to every other cell."""
    found = {start: 0}
    queue = deque([start])
    while queue:
        x, y = queue.popleft()
        for dx, dy in WAYS:
            to = (x + dx, y + dy)
            if 0 <= to[0] < 20 and 0 <= to[1] < 20 and to not in walls and to not in found:
                found[to] = found[(x, y)] + 1
                queue.append(to)
    return found


def towards(walls, pos, goal):
    """The first step of a shortest path."""
    far = distances(walls, goal)
    near = [(pos[0] + dx, pos[1] + dy) for dx, dy in WAYS]
    return min((to for to in near if to in far), key=far.get)


def row_by_row(cells):
    return sorted(cells, key=lambda cell: (cell[1], cell[0]))


def running_hider(walls, pos, enemy_pos):
    """The house bot `running-hider`: of equally distant cells the last one."""
    far = distances(walls, enemy_pos)
    goal = max(reversed(row_by_row(far)), key=far.get)
    return towards(walls, pos, goal)


class Chaser:
    """A seeker that goes where it last saw the hider; if the hider is not there, to the most distant cell."""

    def __init__(self):
        self.empty = None

    def step(self, walls, pos, enemy_pos, visible):
        if visible:
            self.empty = None
        elif pos == enemy_pos:
            self.empty = enemy_pos
        if self.empty != enemy_pos:
            return towards(walls, pos, enemy_pos)
        far = distances(walls, pos)
        return towards(walls, pos, max(row_by_row(far), key=far.get))


# Word Racer


class ZRacer:
    """The house bot `z-racer`: always calls Z and writes it into the last free cell; writes other letters where they give points."""

    POINTS = (0, 0, 1, 2, 3, 5, 8, 13)

    def __init__(self):
        with open("words.dat") as file:
            self.words = set(file.read().split())

    def position(self, board, letter):
        """The cell for a letter on a board (49 characters, `.` for free)."""
        free = [cell for cell in range(49) if board[cell] == "."]
        if letter == "Z":
            return free[-1]
        return max(free, key=lambda cell: self.gain(board, cell, letter))

    def gain(self, board, cell, letter):
        after = board[:cell] + letter + board[cell + 1 :]
        row, column = slice(cell // 7 * 7, cell // 7 * 7 + 7), slice(cell % 7, None, 7)
        return sum(self.line(after[line]) - self.line(board[line]) for line in (row, column))

    def line(self, line):
        """The maximum points of words that do not overlap in a line."""
        best = [0] * 8
        for start in range(5, -1, -1):
            best[start] = best[start + 1]
            for end in range(start + 2, 8):
                if line[start:end] in self.words:
                    best[start] = max(best[start], self.POINTS[end - start] + best[end])
        return best[0]
