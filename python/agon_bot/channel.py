"""The two descriptors the protocol runs on, kept apart from everything a bot prints.

One JSON object a line, UTF-8. The bot's standard output is turned into its log before any of its code runs, so that
a `print` (its own, or a library's in C) never mixes into an answer.
"""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Optional, Tuple

from .streams import replace_standard_streams, move_descriptor_up

# Kept by name here: a bot may replace them in their own modules, where others would find the replacement.
_read, _write, _dumps = os.read, os.write, json.dumps

MAX_LINE_BYTES = 16 * 1024 * 1024
"""A line from the host longer than this is none."""

class Channel:
    """Lines in, lines out."""

    def __init__(self, read_from: int, write_to: int) -> None:
        self.read_from = read_from
        self.write_to = write_to
        self._buffer = b""

    def receive_line(self) -> Optional[bytes]:
        """The next line without its end; `None` when the host has gone."""
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
        """Closes both ends, in a child that must not speak for the bot."""
        for descriptor in {self.read_from, self.write_to}:
            os.close(descriptor)


def from_environment() -> Channel:
    """The channel named by `AGON_IN` / `AGON_OUT`, else standard input and output. Either way the bot's standard
    output becomes its log."""
    named = [os.environ.pop(name, None) for name in ("AGON_IN", "AGON_OUT")]
    read_from, write_to = (int(text) if text else default for text, default in zip(named, (0, 1)))
    return make_private_channel(read_from, write_to)


def make_private_channel(read_from: int, write_to: int) -> Channel:
    """Takes two descriptors for the protocol, closes them under their old numbers, and gives the bot an empty input
    and its log for output."""
    lifted: Tuple[int, int] = (move_descriptor_up(read_from), move_descriptor_up(write_to))
    for descriptor in {read_from, write_to} - {0, 1, 2}:
        os.close(descriptor)
    replace_standard_streams()
    return Channel(*lifted)
