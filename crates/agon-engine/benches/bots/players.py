"""A seeker that walks to where it last saw the hider, and a hider that keeps its distance."""

import random

import numpy as np
from players import Player

STEPS = ((0, 1), (1, 0), (0, -1), (-1, 0))


def neighbours(walls, x, y):
    """Cells that can be reached with one step."""
    cells = [(x + dx, y + dy) for dx, dy in STEPS]
    return [(a, b) for a, b in cells if 0 <= a < 20 and 0 <= b < 20 and not walls[a][b]]


class Seeker(Player):
    def __init__(self, game_map, spawn_position, enemy_spawn_position):
        super().__init__(game_map, spawn_position, enemy_spawn_position)
        self.walls = np.asarray(game_map).tolist()
        self.target = None

    def move(self):
        target = tuple(int(c) for c in self.enemy_pos)
        here = tuple(int(c) for c in self.pos)
        if target != self.target:
            self.target = target
            self.way = self.find(here, target)
        # The hider is not here any more: search nearby.
        self.pos = np.array(self.way.pop(0) if self.way else random.choice(neighbours(self.walls, *here)))

    def find(self, start, target):
        """Cells on the path to the target."""
        came = {target: None}
        border = [target]
        while border and start not in came:
            following = []
            for cell in border:
                for near in neighbours(self.walls, *cell):
                    if near not in came:
                        came[near] = cell
                        following.append(near)
            border = following
        way = []
        cell = came.get(start)
        while cell is not None:
            way.append(cell)
            cell = came[cell]
        return way


class Hider(Player):
    def __init__(self, game_map, spawn_position, enemy_spawn_position):
        super().__init__(game_map, spawn_position, enemy_spawn_position)
        self.walls = np.asarray(game_map).tolist()

    def move(self):
        if not self.enemy_is_visible:
            return
        x, y = (int(c) for c in self.enemy_pos)
        options = neighbours(self.walls, int(self.pos[0]), int(self.pos[1]))
        if options:
            self.pos = np.array(max(options, key=lambda p: abs(p[0] - x) + abs(p[1] - y)))
