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
from typing import Any, Dict, List, Optional, Tuple

from . import enter
from .channel import flush
from .errors import LoadError
from .forks import LONGEST_ANSWER, encode, end_children, in_a_fork, open_descriptors, shared_memory, threads
from .games.base import Message
from .games.solitude import PLATFORMS, Solitude
from .loading import Target
from .seeding import derive, seed_all
from .session import outcome

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
        self.base = derive(os.environ.get("AGON_SEED", ""), hello.get("seed", ""))
        enter.forbid_writing()
        enter.adopt_orphans()
        known = open_descriptors()
        about = self._load_bot(hello)
        self._settle(known)
        return about

    def _load_bot(self, hello: Message) -> Message:
        return self.bot.load(hello)

    def _settle(self, known: List[int]) -> None:
        """After the bot's file has run: nothing it opened stays, nothing it started goes on."""
        # What it opened leads nowhere now. Not just closed: the number would be given to something else, which the
        # bot would take for its own.
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in set(open_descriptors()) - {*known, nowhere}:
            os.dup2(nowhere, descriptor)
        os.close(nowhere)
        sys.settrace(None)
        sys.setprofile(None)
        end_children()
        if threads() > 1:
            raise LoadError(
                "starts a thread while it is loaded",
                "Submission.py",
                None,
                "a bot must be stateless: start nothing outside get_action",
            )
        if shared_memory():
            raise LoadError("makes shared memory while it is loaded", "Submission.py", None, "a bot must be stateless")
        rehearse()
        # What exists now is shared with every fork; the collector need not look at it again.
        gc.collect()
        gc.freeze()

    def start(self, message: Message) -> None:
        self.game_seed = derive(message.get("seed", ""))

    def seed_call(self, message: Message) -> None:
        """Chance for one call: decided by the bot's seed, the game and the turn, by nothing that happened before."""
        seed_all(derive(self.base, self.game_seed, message["observation"]["turn"]))

    def turn(self, message: Message) -> str:
        raise NotImplementedError("a call runs in a process of its own: see answer()")

    def answer(self, message: Message) -> Dict[str, Any]:
        """What the call gave."""

        def call() -> Dict[str, Any]:
            self.seed_call(message)
            return outcome(self.bot, message)

        return in_a_fork(call, message.get("limit_ms"))


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

    def answer(self, message: Message) -> Dict[str, Any]:
        def call() -> Dict[str, Any]:
            self.seed_call(message)
            try:
                self.bot.load(self.first_hello)
            except LoadError as error:
                return {"fault": "crash", "says": str(error)}
            self.seed_call(message)
            return outcome(self.bot, message)

        return in_a_fork(call, message.get("limit_ms"))


class Audited(Strict):
    """All calls in this process, checked when the match is over."""

    def load(self, hello: Message) -> Message:
        about = super().load(hello)
        self.calls: List[Tuple[Message, Dict[str, Any]]] = []
        self.keeper = Keeper(self)
        return about

    def start(self, message: Message) -> None:
        super().start(message)
        self.calls = []

    def answer(self, message: Message) -> Dict[str, Any]:
        self.seed_call(message)
        kept = json.dumps(message)
        result = outcome(self.bot, message)
        self.calls.append((json.loads(kept), result))
        return result

    def again(self, seed: int, messages: List[Message]) -> Dict[str, Any]:
        """The outcomes of these calls, one after another."""
        self.game_seed = seed
        results = []
        for message in messages:
            self.seed_call(message)
            results.append(outcome(self.bot, message))
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


def rehearse() -> None:
    """Runs our own part of a call a few times, without the bot: the interpreter rewrites code it runs often, and
    what is rewritten before the fork is not copied after it."""
    scores = dict.fromkeys(PLATFORMS, 1)
    sides = ["NORTH", "EAST", "SOUTH", "WEST"]
    turn = {"turn": 1, "platform_scores": scores, "sides": sides, "moves": ["LEFT"] * 4, "awards": [0, 0, 0, 1]}
    seen = {"seat": 0, "turn": 2, "platform_scores": scores, "sides": sides, "history": [turn]}
    rehearsal = Solitude(Target(""))
    rehearsal.names = ["a", "b", "c", "d"]
    rehearsal.function = lambda state, history: "LEFT"
    for number in range(40):
        seed_all(derive(number, "rehearsal"))
        encode(outcome(rehearsal, {"observation": seen}))
        flush()
