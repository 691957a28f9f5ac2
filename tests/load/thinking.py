"""How long these bots think. The test writes this file anew with the figure it wants."""

import time

SECONDS = 0.010


def think():
    """Uses so much time on a processor, whoever else wants it."""
    end = time.process_time() + SECONDS
    while time.process_time() < end:
        pass
