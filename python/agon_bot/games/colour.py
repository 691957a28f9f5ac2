"""Colour Battle: `determine_next_move(self, grid, enemies, game_info)` on an instance made anew for each game."""

from __future__ import annotations

import os
import struct
from typing import Any

from .. import imports, loading
from ..answers import colour_move
from ..errors import fault_of
from ..library import bot_control
from ..packets import HEADER, TURN, Packets
from .base import Message, Shim, need_numpy, said

METHOD = "determine_next_move"
PACKED = struct.Struct("<IIHHH2x")
"""Round, rounds, size of the canvas, bots, own id; then everybody's ids, own x and y, everybody's x and y, and the
canvas row by row, all in two bytes each."""
# A bot may replace them where it finds them.
_id, _write = id, os.write
_round = struct.Struct(f"<{HEADER.size}xI").unpack_from


class GameInfo:
    """Where the game is. One object for the whole game, as in the original; set anew before every move."""

    def __init__(self) -> None:
        self.current_round = 0
        self.number_of_rounds = 0
        self.grid_size = 0


class ColourBattle(Shim):
    """A Colour Battle bot."""

    game = "colour-battle"
    alone = True

    def load(self, hello: Message) -> Message:
        self.numpy = need_numpy("Colour Battle")
        imports.offer({"bot_control": bot_control})
        fits = lambda tree, file: bool(loading.classes_with(tree, METHOD))
        file = loading.choose_file(self.target, fits, f"a class with {METHOD}")
        loaded = loading.execute(file, self.target.root, {"Move": bot_control.Move})
        self.root = loaded.root
        self.kind = loading.choose_class(loaded, METHOD, self.target.wanted)
        first = self.construct(self.kind, loaded.shown)
        self.bot: Any = None
        self.buffer: Any = None
        # By identity: nothing that a bot does to a move or to how it compares makes it another one. (What has such a
        # number must stay, or something else could have it.)
        self.all_moves = tuple(bot_control.Move)
        self.moves = {_id(move): move.name for move in self.all_moves}
        self.words = {number: name.encode("ascii") for number, name in self.moves.items()}
        return {"name": said(first, "get_name"), "contributor": said(first, "get_contributor")}

    def start(self, message: Message) -> None:
        self.bot = None

    def _begin(self, size: int) -> None:
        """A new game: a new bot, a white canvas."""
        np = self.numpy
        self.bot = self.kind()
        self.info = GameInfo()
        # The canvas is one living array, as in the original: a bot that kept it sees it change. The bot gets a view
        # it cannot write to.
        self.canvas = np.zeros((size, size), dtype=np.int16)
        self.grid = self.canvas.view()
        self.grid.flags.writeable = False

    def packed(self, packets: Packets) -> str:
        bot = self.bot
        if bot is None or packets.buffer is not self.buffer:
            bot = self._frame(packets)
        self.info.current_round = _round(packets.buffer)[0]
        # Fresh each turn: a bot may keep last turn's to see who moved. One array for all, a row for each.
        rows = iter(self.rows.copy())
        bot.id = self.own
        bot.position = next(rows)
        enemies = [{"id": number, "position": place} for number, place in zip(self.ids, rows)]
        move = bot.determine_next_move(self.grid, enemies, self.info)
        return self.moves.get(_id(move)) or colour_move(move)

    def turns(self, packets: Packets) -> int:
        """The same as `packed`, again and again. With many bots on a core each of them finds next to nothing of what it
        needs still at hand: what is looked up here and there costs more than what is done with it."""
        bot, buffer = self.bot, packets.buffer
        if bot is None or buffer is not self.buffer:
            return packets.receive_after_turn()
        info = self.info
        read, answers, grid, own, ids, rows = packets.read_turn, packets.answers, self.grid, self.own, self.ids, self.rows
        words, write, identity, current, turn = self.words, _write, _id, _round, TURN
        while True:
            count = read(buffer)
            if not count or buffer[0] != turn:
                return packets.received(count)
            # Before the bot is called: it can write to its own memory.
            asked = buffer[4:8]
            try:
                info.current_round = current(buffer)[0]
                bot.id = own
                places = iter(rows.copy())
                bot.position = next(places)
                enemies = []
                for number in ids:
                    enemies.append({"id": number, "position": next(places)})
                move = bot.determine_next_move(grid, enemies, info)
                word = words.get(identity(move)) or colour_move(move).encode("ascii")
            except BaseException as error:  # sys.exit, KeyboardInterrupt: all the bot's doing
                packets.send({"id": int.from_bytes(asked, "little"), **fault_of(error, self.root)})
            else:
                write(answers, b"=" + asked + word)

    def _frame(self, packets: Packets) -> Any:
        """The canvas and the positions are where packets arrive: nothing is read, it is there. Returns the bot."""
        np = self.numpy
        _, rounds, size, count, own = PACKED.unpack_from(packets.buffer, HEADER.size)
        if self.bot is None:
            self._begin(size)
        self.info.number_of_rounds = rounds
        self.info.grid_size = size
        self.own = own
        self.buffer = packets.buffer
        whole = np.frombuffer(packets.buffer, dtype="<i2")
        ids = (HEADER.size + PACKED.size) // 2
        rows = ids + count
        canvas = rows + 2 * (1 + count)
        self.ids = whole[ids:rows].tolist()
        self.rows = whole[rows:canvas].reshape(1 + count, 2)
        # Of memory that cannot be written to by this way, so that nothing behind the grid can be, either.
        closed = memoryview(packets.buffer).toreadonly()
        self.grid = np.ndarray((size, size), np.int16, closed, 2 * canvas)
        return self.bot

    def turn(self, message: Message) -> str:
        np = self.numpy
        seen = message["observation"]
        info = seen["game_info"]
        if self.bot is None or info["current_round"] < self.info.current_round:
            self._begin(info["grid_size"])
        bot = self.bot
        self.canvas[:] = seen["grid"]
        self.info.__dict__.update(info)
        # Fresh each turn: a bot may keep last turn's to see who moved. One array for all positions, a row for each bot.
        positions = np.array([enemy["position"] for enemy in seen["enemies"]], dtype=np.int16)
        enemies = [{"id": enemy["id"], "position": place} for enemy, place in zip(seen["enemies"], positions)]
        bot.id = seen["id"]
        bot.position = np.array(seen["position"], dtype=np.int16)
        return colour_move(bot.determine_next_move(self.grid, enemies, self.info))
