"""Opens its own file while it is loaded, and keeps state in the flags of that descriptor.

Must happen: no call has the descriptor."""

import fcntl
import os

from attack import reached

KEPT = os.open(__file__, os.O_RDONLY)


def get_action(state, match_history):
    try:
        flags = fcntl.fcntl(KEPT, fcntl.F_GETFL)
        if flags & os.O_NONBLOCK:
            reached("a flag of a file", flags)
        fcntl.fcntl(KEPT, fcntl.F_SETFL, flags | os.O_NONBLOCK)
    except OSError:
        pass
    return "LEFT"
