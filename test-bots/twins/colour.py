"""Colour Battle, with its Python API."""

import os

import strategies
from bot_control import Move


class Taker:
    def get_name(self):
        return "Taker"

    def get_contributor(self):
        return "twins"

    def determine_next_move(self, grid, enemies, game_info):
        others = {tuple(bot["position"].tolist()) for bot in enemies if bot["id"] != self.id}
        position, size = tuple(self.position.tolist()), game_info.grid_size
        return Move[strategies.taker(self.id, position, grid, others, game_info.current_round, size)]


class Sweeper(Taker):
    def __init__(self):
        self.sweeper = strategies.Sweeper(int(os.environ["AGON_SEED"]))

    def determine_next_move(self, grid, enemies, game_info):
        return Move[self.sweeper.step(tuple(self.position.tolist()), len(grid))]
