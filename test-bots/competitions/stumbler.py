import random

from game_utils import movement_rules_obided
from players import Player


class Seeker(Player):
    def __init__(self, game_map, spawn_position, enemy_spawn_position):
        super().__init__(game_map, spawn_position, enemy_spawn_position)

    def move(self):
        step = random.choice([(1, 0), (-1, 0), (0, 1), (0, -1)])
        next_pos = [self.pos[0] + step[0], self.pos[1] + step[1]]
        if movement_rules_obided(self.game_map, self.pos, next_pos):
            self.pos = next_pos
