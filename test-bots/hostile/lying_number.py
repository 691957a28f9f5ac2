"""Returns a real int with methods and a metaclass that lie.

Must happen: its value counts (column 0), none of its methods is called."""

import sys

from attack import reached


def called(self, *_):
    print("REACHED a method of the answer", file=sys.stderr, flush=True)
    reached("a method of the answer")


class Meta(type):
    __eq__ = __instancecheck__ = __subclasscheck__ = called
    __hash__ = type.__hash__


class Lie(int, metaclass=Meta):
    __eq__ = __int__ = __index__ = __str__ = __repr__ = __add__ = __radd__ = __format__ = called
    __lt__ = __le__ = __gt__ = __ge__ = __trunc__ = __bool__ = __hash__ = called


class Bot:
    def get_move(self, board, player, T, N):
        return Lie(0)
