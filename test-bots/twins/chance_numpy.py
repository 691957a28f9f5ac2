"""Random bots that also use NumPy's generator."""

import random

import numpy as np
from bot_control import Move


class Anywhere:
    def get_name(self):
        return "Anywhere"

    def get_contributor(self):
        return "twins"

    def determine_next_move(self, grid, enemies, game_info):
        return random.choice(list(Move)) if np.random.rand() < 0.5 else Move.UP
