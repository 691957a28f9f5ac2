"""Keeps state in a lock on a file that all calls have open: a lock belongs to the open file, not to the call.

Must happen: the next call does not find it (it would play CENTER)."""

import fcntl
import os


def locked():
    """Whether `/dev/null` is locked."""
    other = os.open("/dev/null", os.O_RDONLY)
    try:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        pass
    finally:
        os.close(other)
    return False


def get_action(state, match_history):
    # Another bot may hold it during its call.
    remembered = all(locked() for _ in range(3))
    for descriptor in range(256):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            pass
    return "CENTER" if remembered else "LEFT"
