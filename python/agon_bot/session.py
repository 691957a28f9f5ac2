"""The conversation with the host, by the protocol of `docs/protocol.md`.

| from the host | here | reply, always with the message's `id` |
|---|---|---|
| `hello` | the bot is loaded | `protocol`, and `name`, `contributor` where the bot has them; or `error` |
| `start` | a game begins: chance is seeded anew | |
| `turn` | one call | `answer`; or `fault` (`crash`, `garbled`, `illegal`, `timeout`) with what it `says` |
| `end` | the game is over: `adjust()` | `crash` where there is something to say |
| `bye` | the match is over: `train()`, then the process ends | none |

Whatever a bot's code raises becomes a reply; the process goes on, because the game may.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Callable, Dict, Optional

from . import PROTOCOL
from .channel import Channel
from .errors import LoadError, fault_of
from .games import bot_api, game_part, has_python_api, lifetime
from .games.base import Message, Shim
from .loading import Target
from .seeding import derive, seed_all, preload_numpy

# Kept by name: a bot may replace them where it finds them. It is what `os.environ` has its variables in.
_putenv, _variables = os.putenv, os.environ._data  # type: ignore[attr-defined]


def set_variable(name: bytes, value: bytes) -> None:
    """Sets a variable of the environment, without what `os.environ` does on the way: each game does so in a fork."""
    _putenv(name, value)
    _variables[name] = value


def outcome(shim: Shim, message: Message) -> Dict[str, Any]:
    """What a turn gave: `answer`, or `fault` with what it `says`."""
    try:
        return shim.answer(message)
    except BaseException as error:  # sys.exit, KeyboardInterrupt: all the bot's doing
        return fault_of(error, shim.root)


def attempt(shim: Shim, call: Callable[[], str]) -> Dict[str, Any]:
    """What a call of the bot gave: `answer`, or `fault` with what it `says`."""
    try:
        return {"answer": call()}
    except BaseException as error:  # as above
        return fault_of(error, shim.root)


def make_shim(game: str, target: Target) -> Shim:
    """The shim for a bot of a game."""
    shim: Shim = bot_api(game)(target)
    shim.game = game
    shim.lifetime = lifetime(game)
    shim.single_threaded = game_part(game, "SINGLE_THREADED")
    return shim


class Session:
    """One bot, one host, from hello to the end."""

    def __init__(self, channel: Channel, game: str, target: Target) -> None:
        self.channel = channel
        self.game = game
        self.target = target
        self.shim: Optional[Shim] = None

    def run(self) -> int:
        """Talks until the host says bye or hangs up. The exit code: 0, or 2 when the bot could not be loaded."""
        while True:
            line = self.channel.receive_line()
            if line is None:
                return 0
            message = json.loads(line) if self.shim is None else self.shim.decode(line)
            if message.get("type") == "bye":
                if self.shim is not None:
                    self.shim.match_over(message)
                return 0
            reply = self.reply(message)
            self.channel.send({**reply, "id": message.get("id")})
            if "error" in reply:
                return 2

    def reply(self, message: Message) -> Message:
        """The answer to one message. Kinds not known here are answered by their `id` alone: a newer host may send
        them."""
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
        """Loads the bot. Chance is seeded first: a bot may draw at import."""
        try:
            preload_numpy(self.target.path)
            game = str(message.get("game") or self.game)
            self.seed_loading(game, message)
            self.shim = self.make_shim(game)
            self.shim.hello = message
            about = self.shim.load(message)
        except LoadError as error:
            print(error, file=sys.stderr)
            return {"error": error.to_json()}
        known = {name: text for name, text in about.items() if text}
        return {"protocol": PROTOCOL, **known}

    def seed_loading(self, game: str, message: Message) -> None:
        """Chance while the bot is loaded. A bot whose memory lasts for less than a match may have been loaded for an
        earlier game: what it drew then must not depend on which one that was."""
        for_match = has_python_api(game) and lifetime(game) == "match"
        seed_all(self.seed(message) if for_match else 0)

    def make_shim(self, game: str) -> Shim:
        """The shim of the session's bot. A bot whose memory lasts for a call runs each call in a fork."""
        shim = make_shim(game, self.target)
        if shim.lifetime == "call":
            from .stateless import ForkPerCall

            return ForkPerCall(shim)
        return shim

    def start(self, message: Message) -> None:
        """A game begins: the bot's own chance begins anew."""
        self.seed_game(self.seed(message))
        if self.shim is not None:
            self.shim.start(message)

    @staticmethod
    def seed_game(seed: int) -> None:
        """The bot's own chance begins anew."""
        set_variable(b"AGON_SEED", b"%d" % seed)
        seed_all(seed)

    @staticmethod
    def seed(message: Message) -> int:
        """The bot's own seed: from the message, else from `AGON_SEED`."""
        seed = message.get("seed", os.environ.get("AGON_SEED", 0))
        try:
            return int(seed)
        except (TypeError, ValueError):
            return derive(seed)
