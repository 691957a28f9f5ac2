"""An honest Colour Battle bot. It checks the grid at the start of the second round."""

from bot_control import Move


class Honest:
    def determine_next_move(self, grid, enemies, game_info):
        if grid.max() > len(enemies) or grid.min() < 0:
            raise ValueError("another bot has changed the grid")
        return Move.DOWN
