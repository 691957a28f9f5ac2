"""Makes shared memory, pipes and files while it is loaded, which all calls would share.

Must happen: rejected with the reason, or useless (the next call would play CENTER)."""

import mmap
import os
import socket
import tempfile

ways = []
for make in (lambda: mmap.mmap(-1, 4096), lambda: tempfile.TemporaryFile(), lambda: os.pipe(), lambda: socket.socketpair()):
    try:
        ways.append(make())
    except OSError:
        pass
for way in ways:
    if isinstance(way, tuple):
        for end in way:
            os.set_blocking(end if isinstance(end, int) else end.fileno(), False)


def get_action(state, match_history):
    remembered = False
    for way in ways:
        try:
            if isinstance(way, tuple):
                ends = [end if isinstance(end, int) else end.fileno() for end in way]
                try:
                    remembered |= bool(os.read(ends[0], 1))
                except OSError:
                    pass
                os.write(ends[1], b"x")
            else:
                way.seek(0)
                remembered |= way.read(1) == b"x"
                way.seek(0)
                way.write(b"x")
                way.flush()
        except (OSError, ValueError):
            pass
    return "CENTER" if remembered else "LEFT"
