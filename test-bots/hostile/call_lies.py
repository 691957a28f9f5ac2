"""Writes its own answers into every pipe of a call, before the host's: faults for others, two answers, invalid JSON.

Must happen: at most one answer of its own is sent."""

import os

from attack import pipes


def get_action(state, match_history):
    for number in pipes():
        for line in (b'{"results":[{"answer":"CENTER"}],"loaded":true}\n', b"=LEFT\n=CENTER\n", b'{"answer":"CENTER","seat":1}\n'):
            try:
                os.write(number, line)
            except OSError:
                pass
    return "LEFT"
