"""A bot that answers at once. What its answers cost is not the time of any bot: the engine measures it in every game and
takes it out of the times of the bots (`crates/agon-engine/src/empty_answers.rs`)."""

from bot_control import Move

STAY = Move.STAY


class EmptyBot:
    """Stays where it is. It has a seat of no game; it only gets what the bots get."""

    def determine_next_move(self, grid, enemies, game_info):
        """Called like a bot."""
        return STAY
