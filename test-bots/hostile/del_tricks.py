"""Deletes objects whose `__del__` raises, exits or recreates the object, while the host works.

Must happen: Python ignores them, and the bot continues to play."""

import sys

from attack import Attacker


class Phoenix:
    kept = []

    def __del__(self):
        Phoenix.kept.append(self)
        raise SystemExit(5)


class Bot(Attacker):
    def get_move(self, board, player, T, N):
        for _ in range(3):
            ring = [Phoenix()]
            ring.append(ring)
        sys.modules.pop("json", None)
        return 0
