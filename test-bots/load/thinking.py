"""How long these bots think. The test writes this file anew with the figure it wants."""

import time

SECONDS = 0.010


def think():
    """Uses so much time on a processor, however busy the machine is.

    By the thread's clock: where a process has a limit of processor time, as in the sandbox, the kernel brings the process's
    clock up to date only at timer ticks (every 4 or 10 ms), and the bot would think for a tick too long."""
    end = time.thread_time() + SECONDS
    while time.thread_time() < end:
        pass
