"""Hide and Seek's `game_utils`: distance, movement, vision and spawns, by the rules of the game."""

from __future__ import annotations

from typing import Any, Iterator, List, NamedTuple, Optional, Tuple, Union

import numpy as np

from .map import Map

__all__ = [
    "display_game_state",
    "distance",
    "get_hider_spawn",
    "get_seeker_spawn",
    "movement_rules_obided",
    "see_each_other",
]

Position = Union[Tuple[int, int], List[int], np.ndarray]
"""A cell: `[x, y]`."""


class Sight(NamedTuple):
    """What `see_each_other` returns: `(True, (None, None))`, or `(False, (x, y))` with the wall in the way. As a whole
    it is true or false."""

    visible: bool
    wall: Tuple[Optional[int], Optional[int]]

    def __bool__(self) -> bool:
        return self.visible


CLEAR = Sight(True, (None, None))


def _walls(game_map: Any) -> np.ndarray:
    """The array of a map, which may be a `Map` or an array."""
    return getattr(game_map, "nodes", game_map)


def _cell(pos: Position) -> Tuple[int, int]:
    return int(pos[0]), int(pos[1])


def distance(pos1: Position, pos2: Position) -> int:
    """Steps between two cells with no walls in between."""
    return abs(int(pos1[0]) - int(pos2[0])) + abs(int(pos1[1]) - int(pos2[1]))


def movement_rules_obided(
    game_map: Union[Map, np.ndarray], old_pos: Position, new_pos: Position, player: str = "Player"
) -> bool:
    """Whether a player may go from one cell to the other in one move."""
    walls = _walls(game_map)
    x, y = new_pos[0], new_pos[1]
    on_map = 0 <= x < walls.shape[0] and 0 <= y < walls.shape[1]
    return bool(on_map and distance(old_pos, new_pos) <= 1 and walls[int(x), int(y)] == 0)


def see_each_other(game_map: Union[Map, np.ndarray], seeker_pos: Position, hider_pos: Position) -> Sight:
    """Whether the segment between the two cells' centres touches no wall, corners included. If it does: the first wall,
    seen from the left end (from the top if the two stand in one column)."""
    walls = _walls(game_map)
    for x, y in _touched_cells(_cell(seeker_pos), _cell(hider_pos)):
        if walls[x, y]:
            return Sight(False, (x, y))
    return CLEAR


def _touched_cells(a: Tuple[int, int], b: Tuple[int, int]) -> Iterator[Tuple[int, int]]:
    """The cells that a segment touches, from left to right.

    Exact: in units of half a cell, column x spans `2 x - 1` to `2 x + 1`; there the segment spans from `left / dx`
    to `right / dx`, and it touches every row whose span meets that, ends included."""
    (ax, ay), (bx, by) = sorted([a, b])
    dx, dy = bx - ax, abs(by - ay)
    sign = 1 if by >= ay else -1
    if dx == 0:
        yield from ((ax, y) for y in range(ay, by + 1))
        return
    for x in range(dx + 1):
        left = max(0, 2 * x - 1) * dy
        right = min(2 * dx, 2 * x + 1) * dy
        first = max(0, -((dx - left) // (2 * dx)))
        last = min(dy, (right + dx) // (2 * dx))
        yield from ((ax + x, ay + sign * y) for y in range(first, last + 1))


def get_seeker_spawn(game_map: Map) -> np.ndarray:
    """A random free cell, drawn by `numpy.random`. After `numpy.random.seed(game_seed)` it is the game's own."""
    free = np.argwhere(_walls(game_map) == 0)
    return free[np.random.randint(len(free))]


def get_hider_spawn(game_map: Map, seeker_spawn: Position) -> np.ndarray:
    """A random free cell in the quadrant opposite to the seeker's, at least three steps away."""
    walls = _walls(game_map)
    free = np.argwhere(walls == 0)
    half = np.array(walls.shape) // 2
    opposite = [there for there in free if _may_spawn(there, seeker_spawn, half)]
    if not opposite:
        raise ValueError(f"no free cell for a hider opposite to {_cell(seeker_spawn)}")
    while True:
        there = free[np.random.randint(len(free))]
        if _may_spawn(there, seeker_spawn, half):
            return there


def _may_spawn(there: np.ndarray, seeker_spawn: Position, half: np.ndarray) -> bool:
    other_side = [(there[axis] < half[axis]) != (seeker_spawn[axis] < half[axis]) for axis in (0, 1)]
    return all(other_side) and distance(there, seeker_spawn) >= 3


def display_game_state(game_map: Map, seeker_pos: Position, hider_pos: Position, step: Optional[int] = None) -> None:
    """Prints the room with both players: `#` a wall, `X` the wall that blocks the view, `S` the seeker, `H` the
    hider."""
    walls = _walls(game_map)
    visible, wall = see_each_other(game_map, seeker_pos, hider_pos)
    signs = {wall: "X", _cell(hider_pos): "H", _cell(seeker_pos): "S"}
    print("   " + "".join(f"{x:2d}" for x in range(walls.shape[0])))
    for y in range(walls.shape[1]):
        row = [signs.get((x, y), "#" if walls[x, y] else ".") for x in range(walls.shape[0])]
        print(f"{y:2d}  " + " ".join(row))
    print(". empty  # wall  X wall in the way  S seeker  H hider")
    print(f"step {step}, vision {visible}, wall {wall}")
