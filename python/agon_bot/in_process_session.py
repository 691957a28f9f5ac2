"""What the debugger and the profiler share: a session whose bot runs in this very process, so that they see its
frames. Only an author's own tools run it so; in a game, `stateless.py` decides where a Solitude call runs."""

from __future__ import annotations

import os
from typing import Any, Dict

from .games.base import Message, Shim
from .seeding import derive
from .session import Session, outcome
from .stateless import ForkPerCall


class InProcessCalls(ForkPerCall):
    """A Solitude bot whose calls run here. Each is seeded as in a game; that nothing is kept between them is the
    bot's own promise."""

    def load(self, hello: Message) -> Message:
        self.base = derive(os.environ.get("AGON_SEED", ""), hello.get("seed", ""))
        return self.bot.load(hello)

    def answer(self, message: Message) -> Dict[str, Any]:
        self.seed_call(message)
        return outcome(self.bot, message)


class InProcessSession(Session):
    """A session that looks on while the bot is asked."""

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
    """The folder the bot's own files lie in."""
    inner = shim.bot if isinstance(shim, InProcessCalls) else shim
    return os.path.join(os.path.realpath(inner.root), "")


class BotFiles:
    """Which code is the bot's own."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.known: Dict[str, bool] = {}

    def has(self, file: str) -> bool:
        """Whether a file is one of the bot's."""
        own = self.known.get(file)
        if own is None:
            path = os.path.realpath(file)
            # `<frozen importlib>` and its like are no files: as paths they would lie in any folder.
            own = path.startswith(self.root) and file[:1] != "<" and "site-packages" not in path
            self.known[file] = own
        return own
