"""Colour Battle: thinks, then goes up."""

from bot_control import Move
from thinking import think


class Thinker:
    def get_name(self):
        return "Thinker"

    def get_contributor(self):
        return "load"

    def determine_next_move(self, grid, enemies, game_info):
        think()
        return Move.UP
