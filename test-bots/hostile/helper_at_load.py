"""Starts a process while it is loaded, which thinks between games and tells the second game about the first.

Must happen: rejected before any game."""

import os
import time

from bot_control import Move

if os.fork() == 0:
    try:
        if os.fork() == 0:
            time.sleep(30)
    finally:
        os._exit(0)


class Bot:
    def determine_next_move(self, grid, enemies, game_info):
        return Move.UP
