"""Returns a str with methods that lie: LEFT, CENTER or nothing.

Must happen: its characters count (LEFT)."""

import sys


class Lie(str):
    def called(self, *_):
        print("REACHED a method of the answer", file=sys.stderr, flush=True)
        return "CENTER"

    __eq__ = __str__ = __repr__ = __format__ = __hash__ = __getitem__ = __len__ = __contains__ = called
    __class__ = property(called)


def get_action(state, match_history):
    return Lie("LEFT")
