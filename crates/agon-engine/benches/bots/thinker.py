"""Thinks about 125 us a move."""

from bot_control import Move


class Thinker:
    def get_name(self):
        return "thinker"

    def get_contributor(self):
        return "bench"

    def determine_next_move(self, grid, enemies, game_info):
        # By work, not by the clock: a clock would also count the time in which somebody else has the processor.
        total = 0
        for number in range(1900):
            total += number * number
        return Move.UP if total else Move.DOWN
