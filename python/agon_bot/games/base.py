"""What all shims share."""

from __future__ import annotations

import json
from typing import Any, Dict, Optional

from ..errors import LoadError, crash_words, one_line
from ..loading import Target
from ..packets import Packets

Message = Dict[str, Any]
_loads = json.loads


class Shim:
    """A bot of one game. `load` may raise :class:`LoadError`; the other calls run the bot's code and let its
    exceptions out."""

    game = ""
    lives = "game"
    """How long the bot's memory lasts: for a call, a game or a match."""
    alone = False
    """Whether its competition allows it one thread and no more."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.root = target.path
        self.hello: Message = {}

    def load(self, hello: Message) -> Message:
        """Loads the bot. Returns what it says of itself: `name` and `contributor`, where it has them."""
        raise NotImplementedError

    def meet(self, hello: Message) -> None:
        """The loaded bot is to sit down at another table. Not told to bots whose memory lasts for a game: each of their
        games is played by a fork, and their turns say all that matters."""
        self.hello = hello

    def start(self, message: Message) -> None:
        """A game begins."""

    def decode(self, line: bytes) -> Message:
        """A message from its line. Overridden where most of a line is the same as last time."""
        return _loads(line)

    def turn(self, message: Message) -> str:
        """Answers a request."""
        raise NotImplementedError

    def packed(self, packets: Packets) -> str:
        """Answers a turn in the game's own short form, which stands in the packets' buffer."""
        raise NotImplementedError

    def turns(self, packets: Packets) -> int:
        """Answers turns in the shortest way a game has, if it has one, and says how long the first message is that is
        left to others."""
        return packets.receive_after_turn()

    def rehearse(self, packets: Packets) -> None:
        """Answers a few turns of a game with something in the bot's place (see `warm.py`)."""

    def answer(self, message: Message) -> Message:
        """What a turn gave: `answer`, or `fault` with what it `says`. Exceptions of the bot come out."""
        return {"answer": self.turn(message)}

    def game_over(self, message: Message) -> Optional[Message]:
        """The game is over. What is returned is added to the reply."""
        return None

    def match_over(self, message: Message) -> Optional[Message]:
        """The match is over."""
        return None

    def construct(self, kind: type, shown: str) -> Any:
        """An instance of the bot's class, made before any game so that a constructor that fails is found in time."""
        try:
            return kind()
        except BaseException as error:  # a constructor may call sys.exit
            words = crash_words(error, self.root)
            last = words.rpartition("\n")[2]
            raise LoadError(
                f"{kind.__name__}() fails: {last}", shown, None, "the bot is made without arguments", words
            ) from None


def said(bot: Any, method: str) -> Optional[str]:
    """What a bot's `get_name` or `get_contributor` says: one line, no control characters, not endless. `None` if it
    has none or it fails."""
    try:
        text = getattr(bot, method)()
    except BaseException:  # a name is not worth a crash
        return None
    if not issubclass(type(text), str):
        return None
    return one_line(str.__str__(text), 200) or None


def need_numpy(game: str) -> Any:
    """NumPy, or an error that says what to do."""
    try:
        import numpy
        import numpy.random  # NumPy loads it late; it must be there to be seeded

        return numpy
    except ImportError:
        raise LoadError(
            f"{game} hands NumPy arrays to its bots, and NumPy is missing here", None, None, "pip install numpy"
        ) from None
