"""Makes the grid writable in every way that NumPy has, and paints it.

Must happen: it has changed its own copy; the grid of the others is unchanged."""

import numpy as np
from bot_control import Move


class Bot:
    def determine_next_move(self, grid, enemies, game_info):
        ways = (
            lambda: grid.__setitem__((slice(None), slice(None)), 1234),
            lambda: setattr(grid.flags, "writeable", True),
            lambda: grid.setflags(write=True),
            lambda: grid.base.__setitem__((slice(None), slice(None)), 1234),
            lambda: np.lib.stride_tricks.as_strided(grid, writeable=True).__setitem__((0, 0), 1234),
            lambda: np.frombuffer(grid.base, dtype=np.int16).__setitem__(slice(None), 1234),
            lambda: np.copyto(grid.base, 1234),
        )
        for way in ways:
            try:
                way()
            except (ValueError, AttributeError, TypeError, IndexError, NotImplementedError):
                pass
        for enemy in enemies:
            enemy["id"] = 0
            enemy["position"][:] = 0
        enemies.clear()
        game_info.current_round = game_info.number_of_rounds
        self.id = 2
        self.position[:] = 0
        return Move.UP
