"""The session with the host, by the protocol of `docs/protocol.md`.

| from the host | action | reply, always with the message's `id` |
|---|---|---|
| `hello` | loads the bot | `protocol`, and the bot's `name` and `contributor` if it has them; or `error` |
| `start` | starts a game: sets the seed | |
| `turn` | one call | `answer`; or `fault` (`crash`, `garbled`, `illegal`, `timeout`) with its text in `says` |
| `end` | ends the game: `adjust()` | `fault` with its text in `says` if that failed |
| `bye` | ends the match: `train()`, then the process exits | `fault` with its text in `says` if that failed; else none |

An exception of the bot's code becomes a reply. The process continues, because the game may.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Callable, Dict, Optional

from . import PROTOCOL
from .channel import Channel
from .errors import LoadError, fault_of
from .games import bot_api, game_part, lifetime
from .games.base import Message, Shim
from .loading import Target
from .seeding import derive, preload_numpy, seed_all

# Kept under names of this module: a bot may replace the originals. `os.environ` stores its variables in `_data`.
_putenv, _variables = os.putenv, os.environ._data  # type: ignore[attr-defined]


def set_variable(name: bytes, value: bytes) -> None:
    """Sets an environment variable without the checks of `os.environ`: each game does this in a fork."""
    _putenv(name, value)
    _variables[name] = value


def outcome(shim: Shim, message: Message) -> Dict[str, Any]:
    """The result of a turn: `answer`, or `fault` with its text in `says`."""
    try:
        return shim.answer(message)
    except BaseException as error:  # also sys.exit and KeyboardInterrupt: the bot raised them
        return fault_of(error, shim.root)


def attempt(shim: Shim, call: Callable[[], str]) -> Dict[str, Any]:
    """The result of a call of the bot: `answer`, or `fault` with its text in `says`."""
    try:
        return {"answer": call()}
    except BaseException as error:  # as above
        return fault_of(error, shim.root)


def make_shim(game: str, target: Target) -> Shim:
    """The shim for a bot of a game. Raises an error if the game's package lacks a part."""
    kind = lifetime(game)  # first: it names the part that a new game lacks
    shim: Shim = bot_api(game)(target)
    shim.game = game
    shim.lifetime = kind
    shim.single_threaded = game_part(game, "SINGLE_THREADED")
    return shim


class Session:
    """The session of one bot with one host, from hello to bye."""

    def __init__(self, channel: Channel, game: str, target: Target) -> None:
        self.channel = channel
        self.game = game
        self.target = target
        self.shim: Optional[Shim] = None

    def run(self) -> int:
        """Answers messages until the host says bye or closes the connection. Returns the exit code: 0, or 2 if the bot
        could not be loaded."""
        while True:
            line = self.channel.receive_line()
            if line is None:
                return 0
            message = json.loads(line) if self.shim is None else self.shim.decode(line)
            if message.get("type") == "bye":
                last_words = self.match_over(message)
                if last_words:
                    self.channel.send({**last_words, "id": 0})
                return 0
            reply = self.reply(message)
            self.channel.send({**reply, "id": message.get("id")})
            if "error" in reply:
                return 2

    def match_over(self, message: Message) -> Message:
        """Ends the match. Returns the fault of the bot, if it has failed."""
        return (self.shim.match_over(message) if self.shim is not None else None) or {}

    def reply(self, message: Message) -> Message:
        """The reply to one message. The reply to an unknown type is its `id` alone: a newer host may send such
        messages."""
        kind = message.get("type")
        if kind == "hello":
            return self.hello(message)
        if self.shim is None:
            return {"error": {"what": f"the first message must be hello, not {kind}"}}
        if kind == "turn":
            return outcome(self.shim, message)
        if kind == "start":
            self.start(message)
            return {}
        if kind == "end":
            return self.shim.game_over(message) or {}
        return {}

    def hello(self, message: Message) -> Message:
        """Loads the bot. The generators are seeded first with a constant, because a bot may draw numbers at import, and
        may be loaded once for many games and matches."""
        try:
            preload_numpy(self.target.path)
            game = str(message.get("game") or self.game)
            seed_all(0)
            self.shim = self.make_shim(game)
            self.shim.hello = message
            if self.shim.lifetime == "match":
                self.shim.load_class()
                self.seed_game(self.seed(message))
                about = self.shim.begin_match(message)
            else:
                about = self.shim.load(message)
        except LoadError as error:
            print(error, file=sys.stderr)
            return {"error": error.to_json()}
        known = {name: text for name, text in about.items() if text}
        return {"protocol": PROTOCOL, **known}

    def make_shim(self, game: str) -> Shim:
        """The shim of the session's bot. A bot whose memory lasts for a call runs each call in a fork."""
        shim = make_shim(game, self.target)
        if shim.lifetime == "call":
            from .stateless import ForkPerCall

            return ForkPerCall(shim)
        return shim

    def start(self, message: Message) -> None:
        """Starts a game and seeds the bot's generators."""
        self.seed_game(self.seed(message))
        if self.shim is not None:
            self.shim.start(message)

    @staticmethod
    def seed_game(seed: int) -> None:
        """Seeds the bot's generators for a game."""
        set_variable(b"AGON_SEED", b"%d" % seed)
        seed_all(seed)

    @staticmethod
    def seed(message: Message) -> int:
        """The bot's seed: from the message, or from `AGON_SEED`."""
        seed = message.get("seed", os.environ.get("AGON_SEED", 0))
        try:
            return int(seed)
        except (TypeError, ValueError):
            return derive(seed)
