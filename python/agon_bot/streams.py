"""A bot's standard streams, and descriptors that the bot must not use. (Imports little: see `stateless_session.py`.)"""

from __future__ import annotations

import fcntl
import io
import os
import resource
import sys

from .errors import refuse_breakpoint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import List, TextIO

# The sandbox allows only few descriptors.
MIN_PROTOCOL_DESCRIPTOR = min(200, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 16)
"""The protocol's descriptors have numbers from here on, because some bots close 0 to 99."""


def move_descriptor_up(descriptor: int) -> int:
    """Copies a descriptor to a high number, closed on exec."""
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, MIN_PROTOCOL_DESCRIPTOR)


def disable_output_buffering() -> None:
    """Makes the standard streams unbuffered, so that they never need a flush. A debugger gets no terminal."""
    sys.breakpointhook = refuse_breakpoint
    for number, name in ((1, "stdout"), (2, "stderr")):
        raw = open(number, "wb", buffering=0, closefd=False)
        stream = io.TextIOWrapper(raw, "utf-8", "backslashreplace", write_through=True)  # type: ignore[arg-type]
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def isolate_streams(log: int, *kept: int) -> List[int]:
    """Gives the bot an empty input and `log` as output, moves the descriptors in `kept` to high numbers, and closes all
    others. Returns the new numbers of `kept`."""
    os.dup2(log, 2)
    lifted = [move_descriptor_up(descriptor) for descriptor in kept]
    replace_standard_streams()
    last = 2
    for descriptor in [*sorted(lifted), 1 << 16]:
        os.closerange(last + 1, descriptor)
        last = descriptor
    return lifted


def replace_standard_streams() -> None:
    """Gives the bot an empty input and its log as output. A debugger gets no terminal."""
    sys.breakpointhook = refuse_breakpoint
    empty = os.open(os.devnull, os.O_RDONLY)
    if empty != 0:
        os.dup2(empty, 0)
        os.close(empty)
    os.dup2(2, 1)
    # New objects, because the old ones remember the kind of the old file. Buffered by line, so that the log is complete
    # even if the process is killed in the next call.
    sys.stdin = sys.__stdin__ = open(0, closefd=False, encoding="utf-8")  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = _log(1)  # type: ignore
    sys.stderr = sys.__stderr__ = _log(2)  # type: ignore


def _log(descriptor: int) -> TextIO:
    """A stream into the bot's log that accepts any text."""
    return open(descriptor, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)


def flush() -> None:
    """Flushes the bot's output."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:  # the bot may have replaced the stream
            pass
