"""Hide and Seek's `map`: the room, in both forms that bots use: an array indexed `[x, y]`, and an object with `.nodes
.width .height .connections`."""

import numpy as np

SIDE = 20
SHAPES = (
    ((0, 0),),
    ((0, 0), (1, 0), (0, 1), (1, 1)),
    ((0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 0), (2, 1), (2, 2)),
    ((0, 0), (0, 1), (1, 1)),
    ((0, 0), (1, 0), (0, 1)),
    ((0, 0), (1, 0), (1, 1)),
)


class Map(np.ndarray):
    """The room: 0 empty, 1 wall. `Map(seed)` builds the room of a seed, `Map.of(columns)` takes a given one."""

    def __new__(cls, seed=42):
        return cls.of(_generate(seed))

    @classmethod
    def of(cls, columns):
        """A map from `map[x][y]`."""
        return np.array(columns, dtype=int).view(cls)

    @classmethod
    def of_cells(cls, width, height, cells):
        """A map from one byte a cell, column by column."""
        return np.ndarray((width, height), np.uint8, cells).astype(int).view(cls)

    @property
    def nodes(self):
        """The room as a plain array."""
        return self.view(np.ndarray)

    @property
    def width(self):
        """The number of columns."""
        return self.shape[0]

    @property
    def height(self):
        """The number of rows."""
        return self.shape[1]

    @property
    def connections(self):
        """For each cell, the neighbouring cells that a player can step on; none for a wall."""
        if "_connections" not in self.__dict__:
            self._connections = _connections(self.nodes)
        return self._connections


def _connections(nodes):
    free = {(int(x), int(y)) for x, y in np.argwhere(nodes == 0)}
    return {
        (x, y): [c for c in ((x - 1, y), (x + 1, y), (x, y + 1), (x, y - 1)) if c in free] if (x, y) in free else []
        for x in range(nodes.shape[0])
        for y in range(nodes.shape[1])
    }


def _in_one_piece(free):
    """Whether all free cells can be reached from one another."""
    todo, seen = [next(iter(free))], set()
    while todo:
        x, y = todo.pop()
        if (x, y) in free and (x, y) not in seen:
            seen.add((x, y))
            todo += [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)]
    return len(seen) == len(free)


def _generate(seed):
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
