"""A seeker that walks to where the hider was last seen, and a hider that keeps its distance."""

import numpy as np
from game_utils import movement_rules_obided
from players import Player

STEPS = [np.array(step) for step in ((0, 1), (1, 0), (0, -1), (-1, 0))]


def distances(game_map, target):
    """Steps to the target from everywhere."""
    far = np.full((20, 20), 999)
    far[tuple(target)] = 0
    border = [tuple(target)]
    while border:
        following = []
        for x, y in border:
            for nx, ny in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
                if 0 <= nx < 20 and 0 <= ny < 20 and not game_map[nx, ny] and far[nx, ny] == 999:
                    far[nx, ny] = far[x, y] + 1
                    following.append((nx, ny))
        border = following
    return far


class Seeker(Player):
    def __init__(self, game_map, spawn_position, enemy_spawn_position):
        super().__init__(game_map, spawn_position, enemy_spawn_position)
        self.target = None

    def move(self):
        target = tuple(self.enemy_pos)
        if target != self.target:
            self.target = target
            self.far = distances(self.game_map, target)
        options = [self.pos + step for step in STEPS]
        options = [p for p in options if movement_rules_obided(self.game_map, self.pos, p)]
        self.pos = min(options, key=lambda p: self.far[p[0], p[1]])


class Hider(Player):
    def move(self):
        if not self.enemy_is_visible:
            return
        options = [self.pos + step for step in STEPS]
        options = [p for p in options if movement_rules_obided(self.game_map, self.pos, p)]
        if options:
            self.pos = max(options, key=lambda p: abs(p - self.enemy_pos).sum())
