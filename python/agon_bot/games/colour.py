"""Colour Battle: `determine_next_move(self, grid, enemies, game_info)` on an instance made anew for each game."""

from __future__ import annotations

from binascii import a2b_base64
from typing import Any

from .. import imports, loading
from ..answers import colour_move
from ..library import bot_control
from .base import Message, Shim, need_numpy, said

METHOD = "determine_next_move"


class GameInfo:
    """Where the game is. One object for the whole game, as in the original; set anew before every move."""

    def __init__(self) -> None:
        self.current_round = 0
        self.number_of_rounds = 0
        self.grid_size = 0


class ColourBattle(Shim):
    """A Colour Battle bot."""

    game = "colour-battle"

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

    def turn(self, message: Message) -> str:
        np = self.numpy
        seen = message["observation"]
        info = seen["game_info"]
        if self.bot is None or info["current_round"] < self.info.current_round:
            self._begin(info["grid_size"])
        bot = self.bot
        grid = seen["grid"]
        if type(grid) is str:
            # Base64 of one byte a tile, row by row: a host in a hurry. A list of lists costs ten times as much to read.
            grid = np.frombuffer(a2b_base64(grid), dtype=np.uint8).reshape(self.canvas.shape)
        self.canvas[:] = grid
        self.info.__dict__.update(info)
        # Fresh each turn: a bot may keep last turn's to see who moved. One array for all positions, a row for each bot.
        positions = np.array([enemy["position"] for enemy in seen["enemies"]], dtype=np.int16)
        enemies = [{"id": enemy["id"], "position": place} for enemy, place in zip(seen["enemies"], positions)]
        bot.id = seen["id"]
        bot.position = np.array(seen["position"], dtype=np.int16)
        return colour_move(bot.determine_next_move(self.grid, enemies, self.info))
