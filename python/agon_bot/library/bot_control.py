"""Colour Battle's `bot_control`: the moves, and an optional base class for bots."""

from enum import Enum


class Move(Enum):
    """One step. UP is y + 1."""

    UP = 1
    DOWN = 2
    LEFT = 3
    RIGHT = 4
    STAY = 5


class Bot:
    """A bot. `id` and `position` are set before its first move."""

    id = 0
    position = None

    def get_name(self):
        """The bot's name in tables."""
        return type(self).__name__

    def get_contributor(self):
        """The bot's author."""
        return ""

    def determine_next_move(self, grid, enemies, game_info):
        """Called every round."""
        return Move.STAY
