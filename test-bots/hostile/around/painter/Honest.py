"""An honest Colour Battle bot. It trusts the grid: at the start of the second round it must be as the rules made it."""

from bot_control import Move


class Honest:
    def determine_next_move(self, grid, enemies, game_info):
        if grid.max() > len(enemies) or grid.min() < 0:
            raise ValueError("somebody has changed the grid")
        return Move.DOWN
