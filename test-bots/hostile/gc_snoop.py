"""Searches all objects of its process for secrets: the special columns, the other bot, the seeds of the game.

Must happen: its process has none of them."""

import gc
import sys

from attack import TARGETS, Attacker, reached


class Bot(Attacker):
    def attack(self):
        frame, seen = sys._getframe(), []
        while frame:
            seen.extend(frame.f_locals.values())
            frame = frame.f_back
        for thing in gc.get_objects() + seen:
            for part in (thing.items() if type(thing) is dict else ()):
                key, value = part
                if type(key) is str and key in ("special", "p", "q", "game_seed", "map_seed") and type(value) in (int, float, list):
                    reached(key, value)
            if type(thing) in (str, bytes) and "secret-of-" + TARGETS["token"] in str(thing):
                reached("a secret", thing)
