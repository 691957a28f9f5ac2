"""Returns a member of its own enumeration that pretends to be another one.

Must happen: garbled, or its real name counts; none of its methods is called."""

import enum
import sys

from attack import reached


class Lie(enum.Enum):
    UP = 1

    @property
    def name(self):
        print("REACHED a method of the answer", file=sys.stderr, flush=True)
        reached("a method of the answer")

    def __eq__(self, other):
        reached("a method of the answer")

    __hash__ = enum.Enum.__hash__


class Bot:
    def determine_next_move(self, grid, enemies, game_info):
        return Lie.UP
