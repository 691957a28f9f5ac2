"""Stateless means stateless: nothing a call leaves behind is there in the next one.

`strict` (the default): the bot is loaded once, and each call runs in a fork of that process which ends with its
answer. Globals, modules, built-ins and threads are gone with it; children it left are killed; files cannot be
written at all (Landlock). After loading, whatever could connect two forks is taken away or refused: open
descriptors, shared memory, threads.

`fresh`: the same, but each fork loads the bot itself, from a process that has never run a line of it. Closes the
last gap (code that changes this very process while it is loaded) and takes more than half as long again.

`audited`: one process for all calls, chance seeded anew for each; when the match is over, all its calls run again
in another order in a fork of the process as it was after loading, and the answers must be the same.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from functools import partial
from typing import Any, Callable, Dict, List, Optional, Tuple

from . import enter
from .errors import LoadError
from .forks import LONGEST_ANSWER, in_a_fork
from .games.base import Message
from .games.solitude import Solitude
from .imports import plan
from .lean import call_seed, rehearse
from .loading import Target
from .packets import Packets
from .remains import open_descriptors
from .seating import settle
from .seeding import derive, seed_all
from .session import attempt

# Kept by name: a bot may replace them where it finds them.
_fork, _exit, _pipe, _write, _close = os.fork, os._exit, os.pipe, os.write, os.close

MODES = ("strict", "fresh", "audited")


def wrap(shim: Solitude, mode: str) -> Strict:
    """The bot in the given mode."""
    if mode not in MODES:
        raise LoadError(f"no such mode: AGON_STATELESS={mode}", None, None, f"one of {', '.join(MODES)}")
    return {"strict": Strict, "fresh": Fresh, "audited": Audited}[mode](shim)


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
        about = self._load_bot(hello)
        settle(known)
        rehearse()
        # What exists now is shared with every fork; the collector need not look at it again.
        gc.collect()
        gc.freeze()
        return about

    def _load_bot(self, hello: Message) -> Message:
        return self.bot.load(hello)

    def meet(self, hello: Message) -> None:
        self.bot.meet(hello)
        self.base = derive(hello.get("seed", ""))

    def start(self, message: Message) -> None:
        self.bot.start(message)
        self.game_seed = derive(self.base, derive(message.get("seed", "")))

    def unpack(self, packets: Packets) -> Message:
        return self.bot.unpack(packets)

    def seed_call(self, message: Message) -> None:
        """Chance for one call."""
        turn = message["turn"] if "turn" in message else message["observation"]["turn"]
        seed_all(call_seed(self.game_seed, turn))

    def turn(self, message: Message) -> str:
        raise NotImplementedError("a call runs in a process of its own: see answer()")

    def ready(self, message: Message) -> Callable[[], Dict[str, Any]]:
        """The call, with all that comes before it done."""
        self.seed_call(message)
        arguments = message["arguments"] if "arguments" in message else self.bot.arguments(message)
        return partial(attempt, self.bot, partial(self.bot.decide, *arguments))

    def answer(self, message: Message) -> Dict[str, Any]:
        """What the call gave, in a fork."""
        return in_a_fork(lambda: self.ready(message)(), message.get("limit_ms"))


class Fresh(Strict):
    """Each call in a fork that loads the bot itself."""

    def _load_bot(self, hello: Message) -> Message:
        self.first_hello = hello
        tried = in_a_fork(self._try, None)
        if "error" in tried:
            error = tried["error"]
            raise LoadError(
                str(error.get("what")),
                error.get("file"),
                error.get("line"),
                str(error.get("hint", "")),
                str(error.get("trace", "")),
            )
        if "fault" in tried:
            raise LoadError(f"ends while it is loaded: {tried.get('says')}", "Submission.py")
        self.bot.prepare(hello)
        return {"name": None, "contributor": None}

    def _try(self) -> Dict[str, Any]:
        try:
            self.bot.load(self.first_hello)
        except LoadError as error:
            return {"error": error.message()}
        return {"loaded": True}

    def ready(self, message: Message) -> Callable[[], Dict[str, Any]]:
        return partial(self._load_and_call, message)

    def _load_and_call(self, message: Message) -> Dict[str, Any]:
        self.seed_call(message)
        try:
            self.bot.load(self.first_hello)
        except LoadError as error:
            return {"fault": "crash", "says": str(error)}
        return super().ready(message)()


class Audited(Strict):
    """All calls in this process, checked when the match is over."""

    lives = "match"

    def load(self, hello: Message) -> Message:
        about = super().load(hello)
        self.calls: List[Tuple[Message, Dict[str, Any]]] = []
        self.keeper = Keeper(self)
        return about

    def start(self, message: Message) -> None:
        super().start(message)
        self.calls = []

    def answer(self, message: Message) -> Dict[str, Any]:
        kept = json.dumps(message)
        result = self.ready(message)()
        self.calls.append((json.loads(kept), result))
        return result

    def again(self, seed: int, messages: List[Message]) -> Dict[str, Any]:
        """The outcomes of these calls, one after another."""
        self.game_seed = seed
        results = []
        for message in messages:
            results.append(self.ready(message)())
        return {"results": results}

    def game_over(self, message: Message) -> Optional[Message]:
        calls, self.calls = self.calls, []
        if not calls:
            return None
        order = sorted(range(len(calls)), key=lambda n: derive(self.base, self.game_seed, "order", n))
        if len(order) > 1 and order == sorted(order):
            order.reverse()
        again = self.keeper.replay(self.game_seed, [calls[n][0] for n in order])
        for n, second in sorted(zip(order, again), key=lambda pair: pair[0]):
            first = calls[n][1]
            if first != second:
                turn = calls[n][0]["observation"]["turn"]
                return {"audit": {"same": False, "turn": turn, "first": first, "again": second}}
        return {"audit": {"same": True, "calls": len(calls)}}


class Keeper:
    """A process that keeps the bot as it was after loading, and forks a copy for each audit."""

    def __init__(self, bot: Audited) -> None:
        down_read, self.down = _pipe()
        self.up, up_write = _pipe()
        self.pid = _fork()
        if self.pid == 0:
            _close(self.down)
            _close(self.up)
            try:
                self._keep(bot, os.fdopen(down_read, "rb"), up_write)
            finally:
                _exit(0)
        _close(down_read)
        _close(up_write)
        self.answers = os.fdopen(self.up, "rb")

    @staticmethod
    def _keep(bot: Audited, asked: Any, reply: int) -> None:
        for line in asked:
            seed, messages = json.loads(line)

            limit = sum(message.get("limit_ms") or 2000 for message in messages)
            data = (
                json.dumps(
                    in_a_fork(partial(bot.again, seed, messages), limit, len(messages) * LONGEST_ANSWER)
                ).encode()
                + b"\n"
            )
            while data:
                data = data[_write(reply, data) :]

    def replay(self, seed: int, messages: List[Message]) -> List[Dict[str, Any]]:
        """The outcomes of these calls in a fresh copy, in this order."""
        data = json.dumps([seed, messages]).encode() + b"\n"
        while data:
            data = data[_write(self.down, data) :]
        reply = json.loads(self.answers.readline() or b"{}")
        return reply.get("results") or [reply] * len(messages)


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
