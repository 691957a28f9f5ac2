"""Hide and Seek's `players`: the base class of every seeker and hider."""

from .game_utils import see_each_other


class Player:
    """A player: its position, and what it knows about its enemy. The game sets `enemy_pos` and `enemy_is_visible`
    before each move."""

    def __init__(self, game_map, spawn_position, enemy_spawn_position):
        self.game_map = game_map
        self.pos = spawn_position
        self.enemy_pos = enemy_spawn_position
        self.enemy_is_visible = see_each_other(game_map, spawn_position, enemy_spawn_position)

    def move(self):
        """Changes `self.pos` by one cell, or not at all."""
        raise NotImplementedError("write a move() that changes self.pos")
