"""starter-bot: moves to the nearest tile that its number can paint."""

import numpy as np
from bot_control import Bot, Move


class StarterBot(Bot):
    """Agon creates an object for each game, and sets `self.id` and `self.position`, an array `[x, y]`, before every move."""

    def get_name(self):
        return "starter-bot"

    def get_contributor(self):
        return "your name"

    def determine_next_move(self, grid, enemies, game_info):
        """One of Move.UP (y + 1), DOWN (y - 1), LEFT (x - 1), RIGHT (x + 1) and STAY."""
        x, y = int(self.position[0]), int(self.position[1])
        goals = self.paintable(grid)
        # Your idea goes here: which tile is the best target? Which bots are near it, and which can paint over it?
        ys, xs = np.nonzero(goals)
        if len(xs) == 0:
            return Move.STAY
        nearest = np.argmin(np.abs(xs - x) + np.abs(ys - y))
        return self.step(int(xs[nearest]) - x, int(ys[nearest]) - y)

    def paintable(self, grid):
        """Whether each tile `grid[y, x]` becomes mine when I step on it."""
        goals = (grid == 0) | ((self.id - grid) % 3 == 2)
        goals[grid == self.id] = False
        # My current tile is already painted.
        goals[self.position[1], self.position[0]] = False
        return goals

    def step(self, dx, dy):
        """The first step towards a target. Even numbers move along x first, odd numbers along y,
        so that two bots with the same strategy separate."""
        if dx != 0 and (dy == 0 or self.id % 2 == 0):
            return Move.RIGHT if dx > 0 else Move.LEFT
        return Move.UP if dy > 0 else Move.DOWN
