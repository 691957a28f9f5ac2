"""Keeps state in the number of bytes in the log's pipe: it fills the pipe and measures it.

Must happen: the next call does not find it (it would play CENTER)."""

import fcntl
import os
import struct
import termios


def get_action(state, match_history):
    remembered = False
    for descriptor in (0, 1, 2):
        try:
            waiting = struct.unpack("i", fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4)))[0]
        except OSError:
            continue
        remembered |= waiting > 20000
    try:
        os.set_blocking(2, False)
        os.write(2, b"x" * 30000)
    except OSError:
        pass
    return "CENTER" if remembered else "LEFT"
