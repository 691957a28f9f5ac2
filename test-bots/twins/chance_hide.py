"""A seeker and a hider that move at random."""

import random

import numpy as np


class Walker(Player):
    def move(self):
        x, y = int(self.pos[0]), int(self.pos[1])
        step = [(-1, 0), (1, 0), (0, -1), (0, 1)][int(np.random.randint(4)) if random.random() < 0.5 else 0]
        if movement_rules_obided(self.game_map, self.pos, (x + step[0], y + step[1])):
            self.pos = (x + step[0], y + step[1])


class Seeker(Walker):
    pass


class Hider(Walker):
    pass
