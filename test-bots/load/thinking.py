"""The thinking time of these bots. The test overwrites this file."""

import time

SECONDS = 0.010


def think():
    """Uses this much processor time, however busy the machine is.

    Uses the thread's clock. If a process has a limit of processor time, as in the sandbox, the kernel updates the process's
    clock only at timer ticks (every 4 or 10 ms), and the bot would think for a tick too long."""
    end = time.thread_time() + SECONDS
    while time.thread_time() < end:
        pass
