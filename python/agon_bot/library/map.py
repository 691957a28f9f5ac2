"""Hide and Seek's `map`: the room, in both forms that bots use: an array indexed `[x, y]`, and an object with `.nodes
.width .height .connections`. `python -m map 42` prints the room of a seed."""

from __future__ import annotations

import sys
from typing import Any, Dict, List, Optional, Sequence, Set, Tuple

import numpy as np

Cell = Tuple[int, int]

SIDE = 20
SHAPES: Tuple[Tuple[Cell, ...], ...] = (
    ((0, 0),),
    ((0, 0), (1, 0), (0, 1), (1, 1)),
    ((0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 0), (2, 1), (2, 2)),
    ((0, 0), (0, 1), (1, 1)),
    ((0, 0), (1, 0), (0, 1)),
    ((0, 0), (1, 0), (1, 1)),
)


class Map(np.ndarray):
    """The room: 0 empty, 1 wall. `Map(seed)` builds the room of a seed, `Map.of(columns)` takes a given one."""

    _seed: Optional[int] = None
    _connections: Dict[Cell, List[Cell]]

    def __new__(cls, seed: int = 42, build_walls: bool = True) -> Map:
        made = cls.of(_generate(seed) if build_walls else [[0] * SIDE for _ in range(SIDE)])
        made._seed = seed
        return made

    @classmethod
    def of(cls, columns: Sequence[Sequence[int]]) -> Map:
        """A map from `map[x][y]`."""
        return np.array(columns, dtype=int).view(cls)

    @classmethod
    def of_cells(cls, width: int, height: int, cells: Any) -> Map:
        """A map from one byte a cell, column by column."""
        return np.ndarray((width, height), np.uint8, cells).astype(int).view(cls)

    @property
    def seed(self) -> Optional[int]:
        """The seed that the room was built from. None in a game: there the seed is a secret."""
        return self._seed

    @property
    def nodes(self) -> np.ndarray:
        """The room as a plain array."""
        return self.view(np.ndarray)

    @property
    def width(self) -> int:
        """The number of columns."""
        return self.shape[0]

    @property
    def height(self) -> int:
        """The number of rows."""
        return self.shape[1]

    @property
    def connections(self) -> Dict[Cell, List[Cell]]:
        """For each cell, the neighbouring cells that a player can step on; none for a wall."""
        if "_connections" not in self.__dict__:
            self._connections = _connections(self.nodes)
        return self._connections

    def wall_fraction(self) -> float:
        """The share of the cells that are walls, 0 to 1."""
        return float(np.count_nonzero(self.nodes) / self.nodes.size)

    def get_first_empty_node(self, nodes: Optional[np.ndarray] = None) -> Optional[Cell]:
        """The first empty cell of an array of walls, column by column; None if there is none. Without an array: of this
        room."""
        empty = np.argwhere((self.nodes if nodes is None else np.asarray(nodes)) == 0)
        return (int(empty[0][0]), int(empty[0][1])) if len(empty) else None

    def good_graph_connectivity(
        self, nodes: Optional[np.ndarray] = None, connections: Optional[Dict[Cell, List[Cell]]] = None
    ) -> bool:
        """Whether every empty cell can be reached from every other by the connections. Without arguments: in this room.
        An array without empty cells is an error."""
        walls = self.nodes if nodes is None else np.asarray(nodes)
        ways = _connections(walls) if connections is None else connections
        start = self.get_first_empty_node(walls)
        if start is None:
            raise ValueError("there is no empty cell: walls are everywhere")
        todo, seen = [start], {start}
        while todo:
            new = [there for there in ways[todo.pop()] if there not in seen]
            seen.update(new)
            todo += new
        return len(seen) == int(np.count_nonzero(walls == 0))

    def display_map(self) -> None:
        """Prints the room with rows = y and columns = x, below a line with seed, connectivity and share of walls."""
        seed = "unknown" if self.seed is None else self.seed
        good, share = self.good_graph_connectivity(), self.wall_fraction()
        print(f"Map is generated with seed {seed}. Good connectivity? {good}. Wall fraction: {share}.")
        print(self.nodes.T)
        print("0 - empty\n1 - wall\n2 - seeker\n3 - hider")


def _connections(nodes: np.ndarray) -> Dict[Cell, List[Cell]]:
    free = {(int(x), int(y)) for x, y in np.argwhere(nodes == 0)}
    return {
        (x, y): [c for c in ((x - 1, y), (x + 1, y), (x, y + 1), (x, y - 1)) if c in free] if (x, y) in free else []
        for x in range(nodes.shape[0])
        for y in range(nodes.shape[1])
    }


def _in_one_piece(free: Set[Cell]) -> bool:
    """Whether all free cells can be reached from one another."""
    todo: List[Cell] = [next(iter(free))]
    seen: Set[Cell] = set()
    while todo:
        x, y = todo.pop()
        if (x, y) in free and (x, y) not in seen:
            seen.add((x, y))
            todo += [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)]
    return len(seen) == len(free)


def _generate(seed: int) -> List[List[int]]:
    """The room of a seed: shapes at random places until a quarter of the cells is wall. A cell that would cut the room
    in two stays empty."""
    draws = np.random.RandomState(seed)
    free = {(x, y) for x in range(SIDE) for y in range(SIDE)}
    while (SIDE * SIDE - len(free)) / (SIDE * SIDE) < 0.25:
        x, y, shape = draws.randint(0, SIDE), draws.randint(0, SIDE), draws.randint(0, len(SHAPES))
        for dx, dy in SHAPES[shape]:
            rest = free - {(x + dx, y + dy)}
            if len(rest) < len(free) and _in_one_piece(rest):
                free = rest
    return [[0 if (x, y) in free else 1 for y in range(SIDE)] for x in range(SIDE)]


def main(arguments: Sequence[str]) -> None:
    """Prints the room of the seed on the command line, by default 42."""
    text = arguments[0] if arguments else "42"
    if len(arguments) > 1 or not text.isdigit() or int(text) >= 2**32:
        sys.exit("usage: python -m map SEED\nhint: a seed is a whole number from 0 to 4294967295")
    Map(int(text)).display_map()
