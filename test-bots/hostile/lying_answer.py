"""Returns an object that pretends to be an int, equals everything, and counts its uses.

Must happen: garbled; none of its methods is called."""

import sys

from attack import reached


class Lie:
    __class__ = int

    def _called(self, *_):
        print("REACHED a method of the answer", file=sys.stderr, flush=True)
        reached("a method of the answer")

    __eq__ = __int__ = __index__ = __hash__ = __str__ = __repr__ = __format__ = __bool__ = __len__ = __iter__ = _called


class Bot:
    def get_move(self, board, player, T, N):
        return Lie()
