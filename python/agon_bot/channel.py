"""The two descriptors of the protocol, kept apart from everything that a bot prints.

Each line is one JSON object in UTF-8. The bot's standard output is redirected to its log before any of its code runs,
so that output of `print` or of a C library never mixes with an answer.
"""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Optional, Tuple

from .streams import move_descriptor_up, replace_standard_streams

# Kept under names of this module: a bot may replace the originals.
_read, _write, _dumps = os.read, os.write, json.dumps

MAX_LINE_BYTES = 16 * 1024 * 1024
"""Longest line accepted from the host."""

class Channel:
    """Sends and receives lines."""

    def __init__(self, read_from: int, write_to: int) -> None:
        self.read_from = read_from
        self.write_to = write_to
        self._buffer = b""

    def receive_line(self) -> Optional[bytes]:
        """The next line without its line end; `None` when the host has closed the connection."""
        while True:
            line, end, rest = self._buffer.partition(b"\n")
            if end:
                self._buffer = rest
                return line
            chunk = _read(self.read_from, 1 << 16)
            if not chunk or len(self._buffer) > MAX_LINE_BYTES:
                return None
            self._buffer += chunk

    def send(self, message: Dict[str, Any]) -> None:
        """Sends a message as one line."""
        data = _dumps(message, separators=(",", ":")).encode("ascii") + b"\n"
        while data:
            data = data[_write(self.write_to, data) :]

    def close(self) -> None:
        """Closes both descriptors, in a child that must not answer for the bot."""
        for descriptor in {self.read_from, self.write_to}:
            os.close(descriptor)


def from_environment() -> Channel:
    """The channel named by `AGON_IN` and `AGON_OUT`, or standard input and output. In both cases the bot's standard
    output becomes its log."""
    named = [os.environ.pop(name, None) for name in ("AGON_IN", "AGON_OUT")]
    read_from, write_to = (int(text) if text else default for text, default in zip(named, (0, 1)))
    return make_private_channel(read_from, write_to)


def make_private_channel(read_from: int, write_to: int) -> Channel:
    """Moves the two descriptors of the protocol to high numbers, closes the old ones, and gives the bot an empty input
    and its log as output."""
    lifted: Tuple[int, int] = (move_descriptor_up(read_from), move_descriptor_up(write_to))
    for descriptor in {read_from, write_to} - {0, 1, 2}:
        os.close(descriptor)
    replace_standard_streams()
    return Channel(*lifted)
