import random

from bot_control import Move


class Walker:
    def get_name(self):
        return "Walker"

    def get_contributor(self):
        return "Ada"

    def determine_next_move(self, grid, enemies, game_info):
        return random.choice([Move.UP, Move.DOWN, Move.LEFT, Move.RIGHT])
