"""Colour Battle's `bot_control`: the moves, and an optional base class for bots."""

from __future__ import annotations

from enum import Enum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import List, TypedDict

    import numpy as np

    class Enemy(TypedDict):
        """A bot in the arena; you are one of them."""

        id: int
        position: np.ndarray

    class GameInfo:
        """What `determine_next_move` gets as `game_info`."""

        current_round: int
        """From 1."""
        number_of_rounds: int
        grid_size: int


class Move(Enum):
    """One step. UP is y + 1."""

    UP = 1
    DOWN = 2
    LEFT = 3
    RIGHT = 4
    STAY = 5


class Bot:
    """A bot. `id` and `position`, an array `[x, y]`, are set before its first move."""

    id: int = 0
    position: np.ndarray = None  # type: ignore[assignment]

    def get_name(self) -> str:
        """The bot's name in tables."""
        return type(self).__name__

    def get_contributor(self) -> str:
        """The bot's author."""
        return ""

    def determine_next_move(self, grid: np.ndarray, enemies: List[Enemy], game_info: GameInfo) -> Move:
        """Called every round."""
        return Move.STAY
