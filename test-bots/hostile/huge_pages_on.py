"""Switches huge pages on again, which are off for every bot, so that memory can be filled faster than it is
counted.

Must happen: it is refused."""

from attack import Attacker, call, refused


class Bot(Attacker):
    def attack(self):
        # prctl(PR_SET_THP_DISABLE, 0)
        refused("huge pages", lambda: call(157, 41, 0, 0, 0, 0))
