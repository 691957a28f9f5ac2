"""Connect Five: `get_move(self, board, player, T, N)` on one object for the whole match, `adjust()` after each
game, `train()` after the match."""

from __future__ import annotations

import os
import struct
import sys
from typing import Optional

from .. import loading
from ..answers import column
from ..errors import crash_words
from ..packets import HEADER, Packets
from .base import Message, Shim, said

METHOD = "get_move"
PACKED = struct.Struct("<dIBBBx")
"""T, N, player, rows, columns; then the cells, row by row from the top."""


class ConnectFive(Shim):
    """A Connect Five bot."""

    game = "connect-five"
    lives = "match"

    def load(self, hello: Message) -> Message:
        fits = lambda tree, file: bool(loading.classes_with(tree, METHOD))
        file = loading.choose_file(self.target, fits, f"a class with {METHOD}")
        # `data/` and `logs/` stand beside the file, and many open them by that name alone.
        os.chdir(os.path.dirname(file))
        loaded = loading.execute(file, self.target.root)
        self.root = loaded.root
        kind = loading.choose_class(loaded, METHOD, self.target.wanted)
        self.bot = self.construct(kind, loaded.shown)
        return {"name": said(self.bot, "get_name") or kind.__name__, "contributor": None}

    def turn(self, message: Message) -> str:
        seen = message["observation"]
        # The lists have just been decoded from this message: they are the bot's own, to change as it likes.
        return column(self.bot.get_move(seen["board"], seen["player"], seen["T"], seen["N"]))

    def packed(self, packets: Packets) -> str:
        seconds, games, player, rows, columns = PACKED.unpack_from(packets.buffer, HEADER.size)
        start = HEADER.size + PACKED.size
        cells = packets.view[start : start + rows * columns].tolist()
        board = [cells[n : n + columns] for n in range(0, rows * columns, columns)]
        # Like in the document: a whole number of seconds is one.
        whole = int(seconds)
        return column(self.bot.get_move(board, player, whole if whole == seconds else seconds, games))

    def game_over(self, message: Message) -> Optional[Message]:
        return self._optional("adjust")

    def match_over(self, message: Message) -> Optional[Message]:
        return self._optional("train")

    def _optional(self, method: str) -> Optional[Message]:
        """Calls a method the bot may have. What goes wrong there costs nothing and is reported."""
        call = getattr(self.bot, method, None)
        if not callable(call):
            return None
        try:
            call()
        except BaseException as error:  # a bot may call sys.exit
            words = f"{method}(): {crash_words(error, self.root)}"
            print(words, file=sys.stderr)
            return {"crash": words}
        return None
