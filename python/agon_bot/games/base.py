"""The base class of all game APIs, and functions that they share."""

from __future__ import annotations

import json
from typing import Any, Dict, Optional, Tuple

from ..errors import NUMPY_HINT, LoadError, crash_text, one_line
from ..loading import Target
from ..packet_channel import PacketChannel

Message = Dict[str, Any]
_loads = json.loads


class Shim:
    """A bot of one game: calls the bot's functions for requests and turns what they return into answers. `load` may
    raise :class:`LoadError`. The other calls run the bot's code and do not catch its exceptions."""

    game = ""
    """The game's id. Set, like the next two, by `session.make_shim` from what the game's package declares."""
    lifetime = ""
    """How long the bot's memory lasts: for a call, a game or a match."""
    single_threaded = False
    """Whether the bot may start neither threads nor processes during a game."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.root = target.path
        self.hello: Message = {}

    def load(self, hello: Message) -> Message:
        """Loads the bot. Returns the bot's `name` and `contributor`, if it has them. A game whose bots' memory lasts for
        a match has the next three methods in its place."""
        raise NotImplementedError

    def on_hello(self, hello: Message) -> None:
        """The loaded bot joins another match. Not called for bots whose memory lasts for a game: a fork plays each of
        their games, and each turn contains everything they need."""
        self.hello = hello

    def locate(self) -> str:
        """The bot's file."""
        raise NotImplementedError

    def load_class(self) -> None:
        """Executes the bot's file, which is done once for many matches."""
        raise NotImplementedError

    def begin_match(self, hello: Message) -> Message:
        """Makes the bot's object, for each match. Returns what `load` returns."""
        raise NotImplementedError

    def start(self, message: Message) -> None:
        """A game starts."""

    def decode(self, line: bytes) -> Message:
        """Parses a message from its line. Overridden where most of a line is the same as in the previous one."""
        return _loads(line)

    def turn(self, message: Message) -> str:
        """Answers a request."""
        raise NotImplementedError

    def packed(self, packets: PacketChannel) -> str:
        """Answers a turn in the game's short form, which is in the channel's buffer."""
        raise NotImplementedError

    def turns(self, packets: PacketChannel) -> int:
        """Answers turns in a loop of the game's own, if the game has one. Returns the length of the first message that
        is not such a turn."""
        return packets.receive_after_turn()

    def warm_up(self, packets: PacketChannel) -> None:
        """Answers a few turns of a game with a placeholder instead of the bot (see `forked_session.py`)."""

    def answer(self, message: Message) -> Message:
        """The result of a turn: `answer`, or `fault` with its text in `says`. Does not catch the bot's exceptions."""
        return {"answer": self.turn(message)}

    def game_over(self, message: Message) -> Optional[Message]:
        """The game has ended. The result is added to the reply."""
        return None

    def match_over(self, message: Message) -> Optional[Message]:
        """The match has ended."""
        return None

    def construct(self, kind: type, shown: str) -> Any:
        """An instance of the bot's class. Made before any game, so that an error in the constructor is found early."""
        try:
            return kind()
        except BaseException as error:  # a constructor may call sys.exit
            text = crash_text(error, self.root)
            last = text.rpartition("\n")[2]
            raise LoadError(
                f"{kind.__name__}() fails: {last}", shown, None, "the bot is made without arguments", text
            ) from None


class StatelessShim(Shim):
    """A bot of a game with the lifetime `call`: a function with two arguments, the state and the history."""

    file = ""
    """The bot's file. Set by `load`."""

    def arguments(self, message: Message) -> Tuple[Any, Any]:
        """The arguments for a turn in JSON."""
        raise NotImplementedError

    def decide(self, state: Any, history: Any) -> str:
        """Calls the bot's function and reads its answer."""
        raise NotImplementedError


def text_from_method(bot: Any, method: str) -> Optional[str]:
    """The text that a bot's `get_name` or `get_contributor` returns, as one line without control characters, cut to 200
    characters. `None` if the bot has no such method or the method fails."""
    try:
        text = getattr(bot, method)()
    except BaseException:  # a name is not worth a crash
        return None
    if not issubclass(type(text), str):
        return None
    return one_line(str.__str__(text), 200) or None


def require_numpy(game: str) -> Any:
    """The module NumPy, or an error with a hint."""
    try:
        import numpy
        import numpy.random  # NumPy loads it lazily; it must be loaded to be seeded

        return numpy
    except ImportError:
        raise LoadError(
            f"{game} passes NumPy arrays to its bots, and NumPy is not installed", None, None, NUMPY_HINT
        ) from None
