"""The Python API of __TITLE__: `get_move(self, state)`."""

from __future__ import annotations

from ... import loading
from ...answers import whole_number
from ..base import Message, Shim, text_from_method
from . import ENTRY_FUNCTION


class __TYPE__(Shim):
    """A __TITLE__ bot."""

    def load(self, hello: Message) -> Message:
        fits = lambda tree, file: bool(loading.classes_with(tree, ENTRY_FUNCTION))
        file = loading.choose_file(self.target, fits, f"a class with {ENTRY_FUNCTION}")
        loaded = loading.execute(file, self.target.root)
        self.root = loaded.root
        kind = loading.choose_class(loaded, ENTRY_FUNCTION, self.target.wanted)
        self.bot = self.construct(kind, loaded.display_name)
        return {"name": text_from_method(self.bot, "get_name") or kind.__name__, "contributor": None}

    def turn(self, message: Message) -> str:
        # FILL IN: from the observation to the arguments, and from what the bot returned to an answer.
        return str(whole_number(self.bot.get_move(message["observation"]), "what get_move returned"))
