"""The Python API of Hide and Seek: `class Seeker(Player)` / `class Hider(Player)` with a `move()` that changes
`self.pos`."""

from __future__ import annotations

import ast
import json
import os
import struct
import sys
from typing import Any, Optional, Tuple

from ... import imports, loading
from ...answers import MAX_COORDINATE, describe, whole_coordinate
from ...errors import LoadError, garbled
from ...packet_channel import HEADER, PacketChannel
from ..base import Message, Shim, require_numpy
from . import ENTRY_FUNCTION

PACKED = struct.Struct("<IBBBx8h")
"""Step, whether the enemy is visible, width and height of the map if it follows (one byte a cell, column by column),
then positions: own, the enemy's, own spawn, the enemy's spawn."""
_turn = struct.Struct(f"<{HEADER.size}x4xB3x4h").unpack_from
"""The fields that change from turn to turn."""
ROLES = {"seeker": "Seeker", "hider": "Hider"}


class HideAndSeek(Shim):
    """A seeker or a hider."""

    def load(self, hello: Message) -> Message:
        self.numpy = np = require_numpy("Hide and Seek")
        from ...library import game_utils, players
        from ...library import map as game_map

        self.map_kind = game_map.Map
        self.players: Any = players
        imports.install_game_modules({"players": players, "game_utils": game_utils, "map": game_map})
        role = hello.get("role") or ("seeker", "hider")[int(hello.get("seat", 0)) % 2]
        wanted = self.target.wanted or ROLES[role]
        names = lambda tree: {name for name, _ in loading.classes_with(fix_class_syntax(tree), ENTRY_FUNCTION)}
        fits = lambda tree, file: wanted in names(tree)
        file = self._file(wanted, fits)
        # In the original competition a submission is pasted into `players.py`, below that file's imports and its class
        # Player.
        given = {name: getattr(game_utils, name) for name in game_utils.__all__}
        given.update(Player=players.Player, np=np)
        loaded = loading.execute(file, self.target.root, given, fix_class_syntax)
        self.root = loaded.root
        own = sorted(name for name in ROLES.values() if isinstance(getattr(loaded.module, name, None), type))
        if self.target.wanted is None and wanted not in own:
            has = f"it has {own[0]}, the other role" if own else f"write class {wanted}(Player) with def move(self)"
            raise LoadError(f"has no class {wanted}", loaded.display_name, None, has)
        self.kind = loading.choose_class(loaded, ENTRY_FUNCTION, wanted)
        self.columns: Any = None
        self.array = np.array
        self._reset()
        return {"name": None, "contributor": None}

    def _file(self, wanted: str, fits: Any) -> str:
        """The file to load. In a folder: the file named like the class, else `players.py`, else the only file with the
        class."""
        if os.path.isdir(self.target.path):
            for name in (f"{wanted.lower()}.py", f"{wanted}.py", "players.py"):
                file = os.path.join(self.target.path, name)
                if os.path.isfile(file):
                    return file
        return loading.choose_file(self.target, fits, f"a class {wanted} with {ENTRY_FUNCTION}")

    def _reset(self) -> None:
        self.bot: Any = None
        self.failed: Optional[BaseException] = None
        self.step = 0
        self.known_tail = b""

    def start(self, message: Message) -> None:
        self._reset()

    def _begin(self, room: Any, spawn: Any, enemy_spawn: Any) -> None:
        """Makes the player. Its constructor runs once a game. If it fails, every move of the game fails with the same
        error."""
        if self.failed is not None:
            raise self.failed
        try:
            self.bot = self.kind(room, self.array(spawn), self.array(enemy_spawn))
        except BaseException as error:  # a bot may call sys.exit
            self.failed = error
            raise

    def decode(self, line: bytes) -> Message:
        """Parses a message. The map is two thirds of every line and does not change during a game, so it is not parsed
        again if the line ends like the previous one."""
        head, key, tail = line.rpartition(b',"game_map":')
        if not key or tail != self.known_tail:
            self.known_tail = tail
            return json.loads(line)
        # The map ends with `]]`; the rest closes the objects around it.
        return json.loads(head + tail[tail.rfind(b"]") + 1 :])

    def packed(self, packets: PacketChannel) -> str:
        if self.bot is None:
            self._begin_packed(packets)
        visible, x, y, enemy_x, enemy_y = _turn(packets.buffer)
        bot = self.bot
        bot.enemy_is_visible = visible != 0
        bot.enemy_pos = self.array((enemy_x, enemy_y))
        return self._move((x, y))

    def warm_up(self, packets: PacketChannel) -> None:
        kind, self.kind = self.kind, PlaceholderPlayer
        try:
            seen = HEADER.pack(0, 0) + PACKED.pack(1, 1, 20, 20, *(3, 3, 9, 9) * 2) + bytes(20 * 20)
            packets.buffer[: len(seen)] = seen
            for _ in range(4):
                self.packed(packets)
        finally:
            self.kind = kind
            self._reset()

    def _begin_packed(self, packets: PacketChannel) -> None:
        _, _, width, height, *cells = PACKED.unpack_from(packets.buffer, HEADER.size)
        start = HEADER.size + PACKED.size
        room = self.map_kind.of_cells(width, height, packets.view[start : start + width * height])
        self._begin(room, cells[4:6], cells[6:8])

    def turn(self, message: Message) -> str:
        np = self.numpy
        seen = message["observation"]
        if seen["step"] < self.step:
            self._reset()
        self.step = seen["step"]
        self.columns = seen.get("game_map") or self.columns
        if self.bot is None:
            self._begin(self.map_kind.of(self.columns), seen["spawn_position"], seen["enemy_spawn_position"])
        bot = self.bot
        bot.enemy_is_visible = seen["enemy_is_visible"]
        bot.enemy_pos = np.array(seen["enemy_pos"])
        return self._move(seen["pos"])

    def _move(self, where: Any) -> str:
        bot = self.bot
        self._put(bot, where)
        try:
            bot.move()
        except BaseException:
            # The game leaves the bot where it was, so its position must be the old one.
            self._put(bot, where)
            raise
        x, y = read_position(getattr(bot, "pos", None))
        return f"{x},{y}"

    def _put(self, bot: Any, where: Any) -> None:
        """Sets the bot's position to the one in the game. If it is right already, the bot's object is kept. If not (its
        last move was rejected), the bot gets the position in the form that it uses: tuple, list or array."""
        mine = getattr(bot, "pos", None)
        try:
            if read_position(mine) == tuple(where):
                return
        except Exception:  # not a position: replaced below
            pass
        kind = type(mine)
        bot.pos = tuple(where) if kind is tuple else list(where) if kind is list else self.numpy.array(where)


def read_position(value: object) -> Tuple[int, int]:
    """A position: a tuple, a list or an array of two whole numbers (or whole floats: `np.array` of a mean is one)."""
    numpy = sys.modules.get("numpy")
    kind = type(value)
    if numpy is not None and issubclass(kind, numpy.ndarray):
        items = numpy.ndarray.tolist(value)
    elif issubclass(kind, tuple):
        items = list(tuple.__iter__(value))  # type: ignore[arg-type]
    elif issubclass(kind, list):
        items = list(list.__iter__(value))  # type: ignore[arg-type]
    else:
        items = None
    if type(items) is not list or len(items) != 2:
        raise garbled(f"self.pos is {describe(value)} after move(), expected a position [x, y]")
    x, y = items
    far = MAX_COORDINATE
    if type(x) is int and type(y) is int and -far <= x < far and -far <= y < far:  # the usual case
        return x, y
    return whole_coordinate(x, "a coordinate of self.pos"), whole_coordinate(y, "a coordinate of self.pos")


class PlaceholderPlayer:
    """Takes a player's place in the warm-up."""

    def __init__(self, game_map: Any, spawn_position: Any, enemy_spawn_position: Any) -> None:
        self.pos = spawn_position

    def move(self) -> None:
        self.pos = self.pos + 0


def fix_class_syntax(tree: ast.Module) -> ast.Module:
    """Changes `def Seeker(Player):` into `class Seeker(Player):`. The competition's document prints the former, which
    does nothing as a function."""
    for index, node in enumerate(tree.body):
        if not isinstance(node, ast.FunctionDef) or node.name not in ROLES.values():
            continue
        methods = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
        if ENTRY_FUNCTION in methods and [arg.arg for arg in node.args.args] == ["Player"]:
            base = ast.Name(id="Player", ctx=ast.Load())
            fixed = ast.ClassDef(name=node.name, bases=[base], keywords=[], body=node.body, decorator_list=[])
            if sys.version_info >= (3, 12):
                fixed.type_params = []
            tree.body[index] = ast.fix_missing_locations(ast.copy_location(fixed, node))
            print(
                f"line {node.lineno}: `def {node.name}(Player)` is taken for `class {node.name}(Player)`",
                file=sys.stderr,
            )
    return tree
