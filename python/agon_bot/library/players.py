"""Hide and Seek's `players`: the base class of every seeker and hider."""

from __future__ import annotations

from .game_utils import see_each_other

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .game_utils import Position
    from .map import Map


class Player:
    """A player: its position, and what it knows about its enemy. The game sets `enemy_pos` and `enemy_is_visible`
    before each move."""

    game_map: Map
    pos: Position
    enemy_pos: Position
    enemy_is_visible: bool

    def __init__(self, game_map: Map, spawn_position: Position, enemy_spawn_position: Position) -> None:
        self.game_map = game_map
        self.pos = spawn_position
        self.enemy_pos = enemy_spawn_position
        self.enemy_is_visible = bool(see_each_other(game_map, spawn_position, enemy_spawn_position))

    def move(self) -> None:
        """Changes `self.pos` by one cell, or not at all."""
        raise NotImplementedError("write a move() that changes self.pos")
