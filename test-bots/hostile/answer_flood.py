"""Answers, and then keeps writing to its answer socket: up to 4,000 packets of 60 KB, for at most five seconds.

Must happen: garbled; the engine reads one packet too many and no more, and its memory stays small."""

import os
import time

from attack import pipes

PACKET = b"{" + b"x" * 60000


def get_action(state, match_history):
    end = time.monotonic() + 5
    # The id of the first turn: the bot is started again after each fault.
    answer = b"=" + (3).to_bytes(4, "little") + b"LEFT"
    for number in pipes():
        try:
            os.write(number, answer)
            for _ in range(4000):
                os.write(number, PACKET)
                if time.monotonic() > end:
                    break
        except OSError:
            pass
    return "LEFT"
