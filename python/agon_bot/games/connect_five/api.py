"""The Python API of Connect Five: `get_move(self, board, player, T, N)` on one object for the whole match, `adjust()`
after each game, `train()` after the match."""

from __future__ import annotations

import os
import struct
import sys
from typing import Optional

from ... import loading
from ...answers import whole_number
from ...errors import crash_text
from ...packet_channel import HEADER, PacketChannel
from ..base import Message, Shim, text_from_method
from . import ENTRY_FUNCTION

PACKED = struct.Struct("<dIBBBx")
"""T, N, player, rows, columns; then the cells, row by row from the top."""


class ConnectFive(Shim):
    """A Connect Five bot."""

    def locate(self) -> str:
        fits = lambda tree, file: bool(loading.classes_with(tree, ENTRY_FUNCTION))
        return loading.choose_file(self.target, fits, f"a class with {ENTRY_FUNCTION}")

    def load_class(self) -> None:
        file = self.locate()
        # `data/` and `logs/` are beside the file, and many bots open them by a relative path.
        os.chdir(os.path.dirname(file))
        loaded = loading.execute(file, self.target.root)
        self.root = loaded.root
        self.kind = loading.choose_class(loaded, ENTRY_FUNCTION, self.target.wanted)
        self.display_name = loaded.display_name

    def begin_match(self, hello: Message) -> Message:
        self.hello = hello
        self.bot = self.construct(self.kind, self.display_name)
        return {"name": text_from_method(self.bot, "get_name") or self.kind.__name__, "contributor": None}

    def turn(self, message: Message) -> str:
        seen = message["observation"]
        # The lists were just decoded from this message, so the bot may change them.
        return read_column(self.bot.get_move(seen["board"], seen["player"], seen["T"], seen["N"]))

    def packed(self, packets: PacketChannel) -> str:
        seconds, games, player, rows, columns = PACKED.unpack_from(packets.buffer, HEADER.size)
        start = HEADER.size + PACKED.size
        cells = packets.view[start : start + rows * columns].tolist()
        board = [cells[n : n + columns] for n in range(0, rows * columns, columns)]
        # As in the competition's document: a whole number of seconds is an int.
        whole = int(seconds)
        return read_column(self.bot.get_move(board, player, whole if whole == seconds else seconds, games))

    def game_over(self, message: Message) -> Optional[Message]:
        return self._call_optional("adjust")

    def match_over(self, message: Message) -> Optional[Message]:
        return self._call_optional("train")

    def _call_optional(self, method: str) -> Optional[Message]:
        """Calls a method that the bot may have. An error there is a crash, which the host judges: it costs the match after a
        game, and nothing after the match."""
        call = getattr(self.bot, method, None)
        if not callable(call):
            return None
        try:
            call()
        except BaseException as error:  # a bot may call sys.exit
            trace = crash_text(error, self.root)
            last = trace.rpartition("\n")[2]
            text = f"{method}(): {last}\n{trace}"
            print(text, file=sys.stderr)
            return {"fault": "crash", "says": text}
        return None


def read_column(value: object) -> str:
    """A column. The rules decide whether it is on the board and not full."""
    return str(whole_number(value, "what get_move returned"))
