"""Stateless bots: nothing that a call leaves behind exists in the next call.

The bot is loaded once. Each call runs in a fork of that process, which ends with its answer. Globals, modules,
built-ins and threads end with it. Children that it left are killed. Files cannot be written at all (Landlock). After
loading, everything that could connect two forks is removed or rejected: open descriptors, shared memory, threads.

This module is for hosts that start the process themselves and talk in lines; `stateless_session.py` does the same for
children of the zygote.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from functools import partial
from typing import Any, Dict

from . import sandbox_enter
from .errors import LoadError
from .fork_call import run_in_fork
from .games import call_arguments, game_part
from .games.base import Message, Shim, StatelessShim
from .imports import plan_packages
from .load_stateless import forbid_background_work, reject_shared_memory
from .loading import Target
from .process_cleanup import OwnFigures, open_descriptors
from .seeding import derive, seed_all
from .session import attempt, make_shim
from .stateless_session import call_seed, warm_up


class ForkPerCall(Shim):
    """Runs each call in a fork of the process that has loaded the bot."""

    def __init__(self, shim: Shim) -> None:
        super().__init__(shim.target)
        if not isinstance(shim, StatelessShim):
            raise TypeError(f"the lifetime of {shim.game} is call: derive its Python API from StatelessShim")
        self.bot: StatelessShim = shim
        self.game, self.lifetime, self.single_threaded = shim.game, shim.lifetime, shim.single_threaded
        self.base = 0
        self.game_seed = 0
        self.sweep = True
        """Whether a bot with shared memory, threads or processes is rejected. Only tests change it."""

    def load(self, hello: Message) -> Message:
        self.base = derive(hello.get("seed", ""))
        figures = OwnFigures()
        sandbox_enter.forbid_writing()
        sandbox_enter.adopt_orphans()
        known = open_descriptors()
        about = self.bot.load(hello)
        arguments = call_arguments(self.game)
        entry = game_part(self.game, "ENTRY_FUNCTION")
        forbid_background_work(known, arguments.SOURCE_FILE, entry, figures, self.sweep)
        if self.sweep:
            reject_shared_memory(arguments.SOURCE_FILE, entry, figures)
        figures.close()
        warm_up(arguments)
        # All objects so far are shared with every fork; the garbage collector need not visit them again.
        gc.collect()
        gc.freeze()
        return about

    def on_hello(self, hello: Message) -> None:
        self.bot.on_hello(hello)
        self.base = derive(hello.get("seed", ""))

    def start(self, message: Message) -> None:
        self.bot.start(message)
        self.game_seed = derive(self.base, derive(message.get("seed", "")))

    def seed_call(self, message: Message) -> None:
        """Seeds the generators for one call."""
        seed_all(call_seed(self.game_seed, message["observation"]["turn"]))

    def turn(self, message: Message) -> str:
        raise NotImplementedError("each call runs in its own process: see answer()")

    def call(self, message: Message) -> Dict[str, Any]:
        """Runs the call."""
        self.seed_call(message)
        return attempt(self.bot, partial(self.bot.decide, *self.bot.arguments(message)))

    def answer(self, message: Message) -> Dict[str, Any]:
        """Runs the call in a fork and returns its result."""
        return run_in_fork(partial(self.call, message), message.get("limit_ms"))


def check_target(game: str, target: str, hello: Message, sweep: bool = True) -> bytes:
    """Loads a bot as a trial. Returns the error, or what `stateless_session.py` needs to load it with fewer imports."""
    shim = ForkPerCall(make_shim(game, Target.parse(target)))
    shim.sweep = sweep
    try:
        seed_all(0)
        shim.load(hello)
    except LoadError as error:
        print(error, file=sys.stderr)
        return json.dumps({"error": error.to_json()}).encode()
    file = shim.bot.file
    root = shim.target.root or os.path.dirname(file)
    name, packages = plan_packages(file, root)
    return json.dumps({"file": file, "name": name, "packages": packages, "root": root}).encode()
