"""Keeps state in the page cache: it drops a page of its own file, and tests whether a page is cached without reading it.

Must happen: the next call does not find it (it would play CENTER)."""

import os

from attack import FOLDER

FILE = os.path.join(FOLDER, "targets.json")


def get_action(state, match_history):
    file = os.open(FILE, os.O_RDONLY)
    try:
        # 8 is RWF_NOWAIT: read only cached pages.
        os.preadv(file, [bytearray(16)], 0, 8)
        remembered = False
    except BlockingIOError:
        remembered = True
    except OSError:
        remembered = False
    try:
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    except OSError:
        pass
    os.close(file)
    return "CENTER" if remembered else "LEFT"
