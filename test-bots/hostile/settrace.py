"""Traces every function of the host that runs after it, and changes their variables.

Must happen: at most its own session breaks."""

import ctypes
import sys

from attack import Attacker


def trace(frame, event, argument):
    for name, value in list(frame.f_locals.items()):
        if isinstance(value, dict) and "answer" in value:
            value["answer"] = "0"
            value["seat"] = 1
    return trace


class Bot(Attacker):
    def attack(self):
        sys.settrace(trace)
        sys.setprofile(trace)
        frame = sys._getframe()
        while frame:
            frame.f_trace = trace
            frame = frame.f_back
