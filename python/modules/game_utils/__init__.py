"""Hide and Seek's `game_utils`, for tests and editors outside Agon: see `agon_bot.library.game_utils`."""

from agon_bot.library.game_utils import (
    Position,
    Sight,
    display_game_state,
    distance,
    get_hider_spawn,
    get_seeker_spawn,
    movement_rules_obided,
    see_each_other,
)

__all__ = [
    "Position",
    "Sight",
    "display_game_state",
    "distance",
    "get_hider_spawn",
    "get_seeker_spawn",
    "movement_rules_obided",
    "see_each_other",
]
