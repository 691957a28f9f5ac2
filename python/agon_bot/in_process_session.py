"""The base of the debugger's and the profiler's sessions. The bot runs in this process, so that they see its frames.
Only tools for authors use it; in a game, `stateless.py` runs each call of a stateless bot in a fork."""

from __future__ import annotations

import os
from typing import Any, Dict

from .games.base import Message, Shim
from .seeding import derive
from .session import Session, outcome
from .stateless import ForkPerCall


class InProcessCalls(ForkPerCall):
    """A stateless bot whose calls run in this process. Each call is seeded as in a game, but the bot could keep state
    between calls."""

    def load(self, hello: Message) -> Message:
        self.base = derive(os.environ.get("AGON_SEED", ""), hello.get("seed", ""))
        return self.bot.load(hello)

    def answer(self, message: Message) -> Dict[str, Any]:
        self.seed_call(message)
        return outcome(self.bot, message)


class InProcessSession(Session):
    """A session that observes each call of the bot."""

    def make_shim(self, game: str) -> Shim:
        shim = super().make_shim(game)
        return InProcessCalls(shim.bot) if isinstance(shim, ForkPerCall) else shim

    def reply(self, message: Message) -> Message:
        if message.get("type") == "turn" and self.shim is not None:
            return self.ask(self.shim, message)
        return super().reply(message)

    def ask(self, shim: Shim, message: Message) -> Message:
        """One call of the bot."""
        raise NotImplementedError


def bot_root(shim: Shim) -> str:
    """The folder of the bot's files."""
    inner = shim.bot if isinstance(shim, InProcessCalls) else shim
    return os.path.join(os.path.realpath(inner.root), "")


PACKAGE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "")
"""This package. A bot in its author's home folder has the folder of this package below it."""


class BotFiles:
    """Tells the bot's files from other files."""

    def __init__(self, root: str, source: str = "") -> None:
        self.root = root
        # Where the author has the files, if the bot runs from a copy of them. Folders of the copy are links to there.
        self.source = os.path.join(source, "") if source else ""
        self.known: Dict[str, bool] = {}

    def has(self, file: str) -> bool:
        """Whether a file belongs to the bot."""
        own = self.known.get(file)
        if own is None:
            path = os.path.realpath(file)
            # `<frozen importlib>` and similar names are not files; as paths they would be inside any folder.
            inside = path.startswith(self.root) or (self.source != "" and path.startswith(self.source))
            own = inside and file[:1] != "<" and "site-packages" not in path and not path.startswith(PACKAGE)
            self.known[file] = own
        return own

    def real_path(self, file: str) -> str:
        """The path of a file of the bot where its author has it."""
        path = os.path.realpath(file)
        if self.source and path.startswith(self.root):
            return os.path.join(self.source, os.path.relpath(path, self.root))
        return path
