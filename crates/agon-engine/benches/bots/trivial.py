from bot_control import Move


class Trivial:
    def get_name(self):
        return "trivial"

    def get_contributor(self):
        return "bench"

    def determine_next_move(self, grid, enemies, game_info):
        return Move.UP
