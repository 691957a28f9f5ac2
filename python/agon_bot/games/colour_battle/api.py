"""The Python API of Colour Battle: `determine_next_move(self, grid, enemies, game_info)` on a new instance for each
game."""

from __future__ import annotations

import enum
import os
import struct
from typing import Any

from ... import imports, loading
from ...answers import describe
from ...errors import fault_of, garbled
from ...library import bot_control
from ...packet_channel import HEADER, TURN, PacketChannel
from ..base import Message, Shim, require_numpy, text_from_method
from . import ENTRY_FUNCTION

MOVES = ("UP", "DOWN", "LEFT", "RIGHT", "STAY")
PACKED = struct.Struct("<IIHHH2x")
"""Round, rounds, size of the canvas, number of bots, own id. Then the ids of all bots, own x and y, x and y of all
bots, and the canvas row by row; two bytes each."""
# Kept under names of this module: a bot may replace the originals.
_id, _write = id, os.write
_round = struct.Struct(f"<{HEADER.size}xI").unpack_from


class GameInfo:
    """Progress of the game. One object for the whole game, as in the original; updated before every move."""

    def __init__(self) -> None:
        self.current_round = 0
        self.number_of_rounds = 0
        self.grid_size = 0


class ColourBattle(Shim):
    """A Colour Battle bot."""

    def load(self, hello: Message) -> Message:
        self.numpy = require_numpy("Colour Battle")
        imports.install_game_modules({"bot_control": bot_control})
        fits = lambda tree, file: bool(loading.classes_with(tree, ENTRY_FUNCTION))
        file = loading.choose_file(self.target, fits, f"a class with {ENTRY_FUNCTION}")
        loaded = loading.execute(file, self.target.root, {"Move": bot_control.Move})
        self.root = loaded.root
        self.kind = loading.choose_class(loaded, ENTRY_FUNCTION, self.target.wanted)
        first = self.construct(self.kind, loaded.display_name)
        self.bot: Any = None
        self.buffer: Any = None
        # By identity: a bot cannot make one move look like another by changing a move or how moves compare. (The moves
        # are kept alive, or another object could get the same id.)
        self.all_moves = tuple(bot_control.Move)
        self.moves = {_id(move): move.name for move in self.all_moves}
        self.move_bytes = {number: name.encode("ascii") for number, name in self.moves.items()}
        return {"name": text_from_method(first, "get_name"), "contributor": text_from_method(first, "get_contributor")}

    def start(self, message: Message) -> None:
        self.bot = None

    def _begin(self, size: int) -> None:
        """Starts a game: a new bot, a white canvas."""
        np = self.numpy
        self.bot = self.kind()
        self.info = GameInfo()
        # The canvas is one array that changes during the game, as in the original. The bot gets a read-only view of it.
        self.canvas = np.zeros((size, size), dtype=np.int16)
        self.grid = self.canvas.view()
        self.grid.flags.writeable = False

    def packed(self, packets: PacketChannel) -> str:
        bot = self.bot
        if bot is None or packets.buffer is not self.buffer:
            bot = self._frame(packets)
        self.info.current_round = _round(packets.buffer)[0]
        # A new array each turn: a bot may keep the previous one to see which bots moved. One array for all, a row for
        # each.
        rows = iter(self.rows.copy())
        bot.id = self.own
        bot.position = next(rows)
        enemies = [{"id": number, "position": place} for number, place in zip(self.ids, rows)]
        move = bot.determine_next_move(self.grid, enemies, self.info)
        return self.moves.get(_id(move)) or read_move(move)

    def turns(self, packets: PacketChannel) -> int:
        """Does what `packed` does, in a loop. With many bots on a core the processor's caches hold almost nothing of
        this bot at each turn, so attribute lookups cost more than the work itself. The loop looks everything up
        once."""
        bot, buffer = self.bot, packets.buffer
        if bot is None or buffer is not self.buffer:
            return packets.receive_after_turn()
        info = self.info
        read, answers = packets.read_turn, packets.answers
        grid, own, ids, rows = self.grid, self.own, self.ids, self.rows
        move_bytes, write, identity, current, turn = self.move_bytes, _write, _id, _round, TURN
        while True:
            count = read(buffer)
            if not count or buffer[0] != turn:
                return packets.finish_receiving(count)
            # Read before the bot is called: the bot can write to this buffer.
            request_id = buffer[4:8]
            try:
                info.current_round = current(buffer)[0]
                bot.id = own
                places = iter(rows.copy())
                bot.position = next(places)
                enemies = []
                for number in ids:
                    enemies.append({"id": number, "position": next(places)})
                move = bot.determine_next_move(grid, enemies, info)
                text = move_bytes.get(identity(move)) or read_move(move).encode("ascii")
            except BaseException as error:  # also sys.exit and KeyboardInterrupt: the bot raised them
                packets.send({"id": int.from_bytes(request_id, "little"), **fault_of(error, self.root)})
            else:
                write(answers, b"=" + request_id + text)

    def _frame(self, packets: PacketChannel) -> Any:
        """Makes arrays of the canvas and the positions that share the memory of the packet buffer, so that a turn
        copies nothing. Returns the bot."""
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
        # From a read-only view, so that the bot cannot write to the memory behind the grid either.
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
        # A new array each turn: a bot may keep the previous one to see which bots moved. One array for all, a row for
        # each.
        positions = np.array([enemy["position"] for enemy in seen["enemies"]], dtype=np.int16)
        enemies = [{"id": enemy["id"], "position": place} for enemy, place in zip(seen["enemies"], positions)]
        bot.id = seen["id"]
        bot.position = np.array(seen["position"], dtype=np.int16)
        return read_move(bot.determine_next_move(self.grid, enemies, self.info))


def read_move(value: object) -> str:
    """A member of `Move`. A member of another enumeration with the same name counts too, because a bot may have its own
    copy of `bot_control.py`."""
    if issubclass(type(value), enum.Enum):
        try:
            name = object.__getattribute__(value, "_name_")
        except AttributeError:
            name = None
        if type(name) is str and name in MOVES:
            return name
    raise garbled(f"determine_next_move returned {describe(value)}, expected a Move")
