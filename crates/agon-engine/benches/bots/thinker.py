"""Thinks about 125 us per move, and prints its nanoseconds per move at the end of a game."""

from time import perf_counter_ns

from bot_control import Move


class Thinker:
    thought = 0

    def get_name(self):
        return "thinker"

    def get_contributor(self):
        return "bench"

    def determine_next_move(self, grid, enemies, game_info):
        begun = perf_counter_ns()
        # A fixed amount of work, not of time: a clock would also count time in which another process has the CPU.
        total = 0
        for number in range(1900):
            total += number * number
        self.thought += perf_counter_ns() - begun
        if game_info is not None and game_info.current_round == game_info.number_of_rounds:
            print(f"thought {self.thought // game_info.number_of_rounds}")
        return Move.UP if total else Move.DOWN
