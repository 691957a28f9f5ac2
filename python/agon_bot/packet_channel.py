"""The way to a host that forked this process: two packet sockets, one for what is asked and one for what is answered, and for
bots that play a whole game in one process a pipe, by which a turn costs a third as much.

A packet is one message of `docs/protocol.md` (JSON, begins with `{`), or a turn in the game's own short form, which
only this package understands (`games/`):

| bytes | meaning |
|---|---|
| 1 | `TURN` |
| 3 | zero |
| 4 | the message's id |
| 4 | its limit in milliseconds |
| rest | the observation |

After a turn the next one is expected by the pipe. If anything else comes then, or a turn that is too long for it,
`NEXT_ON_SOCKET` comes by the pipe, and after that what it is by the socket. After anything but a turn all comes by the socket.

What is too long for a packet comes in parts: `PARTS`, three zero bytes and the length of the whole come first. An
answer is `=`, the id in four bytes, and the answer's text; or JSON. Where each answer is given by a fork, `+` says
that it has ended, and that the next question can be asked.

Asking and answering are apart so that a fork which is to give one answer can be left without the means to hear the
next question.
"""

from __future__ import annotations

import os
import struct
from _io import FileIO

from .tinyjson import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict

# Kept by name here: a bot may replace them in their own modules, where others would find the replacement.
_readv, _write = os.readv, os.write
_pack = struct.Struct("<cI").pack
_whole = struct.Struct("<4xI").unpack_from

TURN, PARTS, NEXT_ON_SOCKET = 1, 2, 3
CALL_ENDED = b"+"
"""Sent when the fork that gave an answer has ended, where each answer is given by a fork."""
HEADER = struct.Struct("<4xII")
INITIAL_BUFFER_BYTES = 1 << 18
MAX_MESSAGE_BYTES = 16 << 20


def answer_packet(number: int, text: str) -> bytes:
    """The answer to a turn as a packet."""
    return _pack(b"=", number) + text.encode("ascii", "replace")


class PacketChannel:
    """Packets in, packets out. What has come stands at the beginning of `buffer`, which stays the same object unless
    something longer than ever before has come."""

    def __init__(self, requests: int, answers: int, size: int = INITIAL_BUFFER_BYTES, turn_pipe: int = -1) -> None:
        self.requests = requests
        self.answers = answers
        self.turn_pipe = turn_pipe
        self.buffer = bytearray(size)
        self.view = memoryview(self.buffer)
        # The shortest way from a descriptor into a buffer that Python has.
        self.read = FileIO(requests, closefd=False).readinto
        self.read_turn = self.read if turn_pipe < 0 else FileIO(turn_pipe, closefd=False).readinto

    def receive(self) -> int:
        """Waits for a message and says how long it is; 0 when the host has gone."""
        count = self.read(self.buffer)
        if count and self.buffer[0] == PARTS:
            return self._receive_parts(_whole(self.buffer)[0])
        return count

    def receive_after_turn(self) -> int:
        """The same after a turn."""
        return self.finish_receiving(self.read_turn(self.buffer))

    def finish_receiving(self, count: int) -> int:
        """The same when the beginning of a message has come already, of so many bytes, after a turn."""
        if count and self.buffer[0] == NEXT_ON_SOCKET:
            return self.receive()
        if count and self.buffer[0] == PARTS:
            return self._receive_parts(_whole(self.buffer)[0])
        return count

    def _receive_parts(self, length: int) -> int:
        if length > MAX_MESSAGE_BYTES:
            return 0
        if length > len(self.buffer):
            # Even: Colour Battle sees it as numbers of two bytes.
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
