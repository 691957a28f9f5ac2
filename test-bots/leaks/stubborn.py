"""A bot that does not end by itself: it ignores signals, has a child that does too, and loops.

Classes and `get_action` for the Python APIs; as a program (`python3 stubborn.py`) with JSON lines; `python3 stubborn.py lines` with
Word Racer's text protocol. Everything ends after two minutes, so that a hole fails a test and does not harm the machine.
"""

import os
import signal
import sys
import time

try:
    from bot_control import Move
except ImportError:
    Move = None
Base = globals().get("Player", object)


def stay():
    """Never returns."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    end = time.time() + 120
    try:
        os.fork()
        os.setsid()
    except OSError:
        pass  # the sandbox allows fewer of them
    while time.time() < end:
        sum(range(1000))
    os._exit(0)


def get_action(state, match_history):
    stay()


class Painter:
    def get_name(self):
        return "Painter"

    def get_contributor(self):
        return "leaks"

    def determine_next_move(self, grid, enemies, game_info):
        stay() if game_info.current_round > 2 else None
        return Move.UP


class Dropper:
    def get_move(self, board, player, T, N):
        stay() if sum(map(any, board)) > 1 else None
        return 4


class Seeker(Base):
    def move(self):
        stay()


class Hider(Base):
    def move(self):
        stay()


if __name__ == "__main__":
    import json

    if sys.argv[1:] == ["lines"]:
        input()
        if input() == "1":
            print("Q 0", flush=True)
        stay()
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("type") == "turn":
            stay()
        if "id" in message:
            print(json.dumps({"id": message["id"]}), flush=True)
