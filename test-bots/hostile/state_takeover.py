"""Implements the protocol itself while it is loaded, so that all its calls run in one process.

Must happen: it is never ready, and rejected before any game."""

import json
import os
import time

from attack import pipes


def get_action(state, match_history):
    return "LEFT"


def take_over():
    ends = pipes()
    sources = [number for number in ends if os.access(f"/proc/self/fd/{number}", os.R_OK)] or ends
    write_to = [number for number in ends if _accepts(number, os.O_WRONLY)]
    read_from = [number for number in sources if _accepts(number, os.O_RDONLY)]
    if not write_to or not read_from:
        return
    data, calls, end = b"", 0, time.monotonic() + 20
    # `start` may have been read together with `hello`.
    os.write(write_to[0], b'{"id":1}\n{"id":2}\n')
    while time.monotonic() < end:
        chunk = os.read(read_from[0], 1 << 16)
        if not chunk:
            os._exit(0)
        data += chunk
        *lines, data = data.split(b"\n")
        for line in lines:
            message = json.loads(line)
            reply = {"id": message.get("id")}
            if message.get("type") == "turn":
                reply["answer"] = "CENTER" if calls else "LEFT"
                calls += 1
            if message.get("id", 0) > 2:
                os.write(write_to[0], json.dumps(reply).encode() + b"\n")


def _accepts(number, mode):
    import fcntl

    return fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE in (mode, os.O_RDWR)


take_over()
