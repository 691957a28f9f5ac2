"""The channel to a host that got this process from the zygote: two packet sockets, one for requests and one for
answers. Bots that play a whole game in one process also have a pipe for turns, which costs a third of a socket's time.

A packet is one message of `docs/protocol.md` (JSON, starts with `{`), or a turn in the game's short form, which only
this package understands (`games/`):

| bytes | meaning |
|---|---|
| 1 | `TURN` |
| 3 | zero |
| 4 | the message's id |
| 4 | its limit in milliseconds |
| rest | the observation |

After a turn the next turn is expected on the pipe. Before another message, or a turn that is too long for the pipe, the
host sends `NEXT_ON_SOCKET` through the pipe, and then the message through the socket. After a message that is not a
turn, all messages come through the socket.

A message that is too long for a packet comes in parts; before them comes a packet with `PARTS`, three zero bytes and
the total length. An answer is `=`, the id in four bytes, and the answer's text; or JSON. Where a fork gives each
answer, a turn comes with a descriptor: a new socket for this one answer. Then `+` on the answer socket says that the
fork has ended and that the host can send the next request. Where a fork plays each match, `*` says that it has ended.

Requests and answers have separate sockets, so that a fork which gives one answer can be prevented from reading the next
request.
"""

from __future__ import annotations

import os
import struct
from _io import FileIO

from .tinyjson import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict

# Kept under names of this module: a bot may replace the originals.
_readv, _write = os.readv, os.write
_pack = struct.Struct("<cI").pack
_whole = struct.Struct("<4xI").unpack_from

TURN, PARTS, NEXT_ON_SOCKET = 1, 2, 3
CALL_ENDED = b"+"
"""Sent when the fork that gave an answer has ended, where a fork gives each answer."""
MATCH_OVER = b"*"
"""Sent when the fork that played a match has ended, where a fork plays each match."""
HEADER = struct.Struct("<4xII")
INITIAL_BUFFER_BYTES = 1 << 18
MAX_MESSAGE_BYTES = 16 << 20


def answer_packet(number: int, text: str) -> bytes:
    """The answer to a turn as a packet."""
    return _pack(b"=", number) + text.encode("ascii", "replace")


class PacketChannel:
    """Sends and receives packets. A received message is at the start of `buffer`. The buffer stays the same object
    until a longer message comes than ever before."""

    def __init__(self, requests: int, answers: int, size: int = INITIAL_BUFFER_BYTES, turn_pipe: int = -1) -> None:
        self.requests = requests
        self.answers = answers
        self.turn_pipe = turn_pipe
        self.buffer = bytearray(size)
        self.view = memoryview(self.buffer)
        # Python's fastest way to read from a descriptor into a buffer.
        self.read = FileIO(requests, closefd=False).readinto
        self.read_turn = self.read if turn_pipe < 0 else FileIO(turn_pipe, closefd=False).readinto

    def receive(self) -> int:
        """Waits for a message and returns its length; 0 when the host has closed the connection."""
        count = self.read(self.buffer)
        if count and self.buffer[0] == PARTS:
            return self._receive_parts(_whole(self.buffer)[0])
        return count

    def receive_after_turn(self) -> int:
        """Waits for a message after a turn and returns its length."""
        return self.finish_receiving(self.read_turn(self.buffer))

    def finish_receiving(self, count: int) -> int:
        """Receives the rest of a message after a turn, of which `count` bytes are in the buffer. Returns its length."""
        if count and self.buffer[0] == NEXT_ON_SOCKET:
            return self.receive()
        if count and self.buffer[0] == PARTS:
            return self._receive_parts(_whole(self.buffer)[0])
        return count

    def _receive_parts(self, length: int) -> int:
        if length > MAX_MESSAGE_BYTES:
            return 0
        if length > len(self.buffer):
            # Even, because a game may view it as numbers of two bytes.
            self.buffer = bytearray(length + length % 2)
            self.view = memoryview(self.buffer)
        have = 0
        while have < length:
            count = _readv(self.requests, (self.view[have:length],))
            if count == 0:
                return 0
            have += count
        return length

    def answer(self, number: int, text: str) -> None:
        """Sends the answer to a turn."""
        _write(self.answers, answer_packet(number, text))

    def send(self, message: Dict[str, Any]) -> None:
        """Sends a message."""
        _write(self.answers, dumps(message).encode("ascii"))
