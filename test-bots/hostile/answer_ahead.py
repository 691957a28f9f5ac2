"""Answers a request, and immediately the next one, with a second packet.

Must happen: garbled; an answer that was written before the request does not count."""

import struct

from agon_bot import packet_channel as packets

write = packets._write


def write_twice(descriptor, data):
    """Sends an answer, and the same for the next question."""
    count = write(descriptor, data)
    if data[:1] == b"=":
        number = struct.unpack_from("<I", data, 1)[0]
        write(descriptor, struct.pack("<cI", b"=", number + 1) + data[5:])
    return count


packets._write = write_twice


class Bot:
    def get_move(self, board, player, T, N):
        return 0
