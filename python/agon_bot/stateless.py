"""Stateless means stateless: nothing a call leaves behind is there in the next one.

The bot is loaded once, and each call runs in a fork of that process which ends with its answer. Globals, modules,
built-ins and threads are gone with it; children it left are killed; files cannot be written at all (Landlock). After
loading, whatever could connect two forks is taken away or refused: open descriptors, shared memory, threads.

This is the way by lines, for a host that starts the process; `lean.py` is the same for forks of the warm parent.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from functools import partial
from typing import Any, Dict

from . import enter
from .errors import LoadError
from .forks import in_a_fork
from .games.base import Message
from .games.solitude import Solitude
from .imports import plan
from .lean import call_seed, rehearse
from .loading import Target
from .remains import open_descriptors
from .seating import settle
from .seeding import derive, seed_all
from .session import attempt


class Strict(Solitude):
    """Each call in a fork of the loaded bot."""

    def __init__(self, shim: Solitude) -> None:
        super().__init__(shim.target)
        self.bot = shim
        self.base = 0
        self.game_seed = 0

    def load(self, hello: Message) -> Message:
        self.base = derive(hello.get("seed", ""))
        enter.forbid_writing()
        enter.adopt_orphans()
        known = open_descriptors()
        about = self.bot.load(hello)
        settle(known)
        rehearse()
        # What exists now is shared with every fork; the collector need not look at it again.
        gc.collect()
        gc.freeze()
        return about

    def meet(self, hello: Message) -> None:
        self.bot.meet(hello)
        self.base = derive(hello.get("seed", ""))

    def start(self, message: Message) -> None:
        self.bot.start(message)
        self.game_seed = derive(self.base, derive(message.get("seed", "")))

    def seed_call(self, message: Message) -> None:
        """Chance for one call."""
        seed_all(call_seed(self.game_seed, message["observation"]["turn"]))

    def turn(self, message: Message) -> str:
        raise NotImplementedError("a call runs in a process of its own: see answer()")

    def call(self, message: Message) -> Dict[str, Any]:
        """The call itself."""
        self.seed_call(message)
        return attempt(self.bot, partial(self.bot.decide, *self.bot.arguments(message)))

    def answer(self, message: Message) -> Dict[str, Any]:
        """What the call gave, in a fork."""
        return in_a_fork(partial(self.call, message), message.get("limit_ms"))


def examine(target: str, hello: Message) -> bytes:
    """Loads a bot, as a trial: what is wrong with it, or how `lean.py` can load it with less."""
    shim = Strict(Solitude(Target.parse(target)))
    try:
        seed_all(0)
        shim.load(hello)
    except LoadError as error:
        print(error, file=sys.stderr)
        return json.dumps({"error": error.message()}).encode()
    file = shim.bot.file
    root = shim.target.root or os.path.dirname(file)
    name, packages = plan(file, root)
    return json.dumps({"file": file, "name": name, "packages": packages, "root": root}).encode()
