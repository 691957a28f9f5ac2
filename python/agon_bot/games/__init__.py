"""Registry of the games that have a Python API.

Each game has a package in this folder, named like the game's id with `_` for `-`. The package declares what the rest of
`agon_bot` asks (see `PARTS`). No code outside a game's package names a game. A part that a package does not declare is
a `MissingGamePart`, which names the game and the part. There are no defaults.

A package's `__init__.py` holds constants only and imports nothing: the zygote imports all of them, and every page
of its memory is paid for at each fork. Parts that need code are named as `module:attribute` or `module` inside the
package.
"""

from __future__ import annotations

import os
from sys import modules as _modules

from ..errors import LoadError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, List

LIFETIMES = ("call", "game", "match")
PARTS = {
    "LIFETIME": "how long the bot's memory lasts: `call`, `game` or `match`",
    "SINGLE_THREADED": "whether a bot may start neither threads nor processes during a game",
    "ENTRY_FUNCTION": "the bot's function or method that the game calls; the debugger stops there",
    "LIBRARY_MODULES": "names of the modules that the game offers its bots to import",
    "PRELOADED_MODULES": "modules that the zygote imports for the game's bots",
    "BOT_API": "`module:Class`, the subclass of `base.Shim` that loads and calls a bot",
    "SOURCE_CHECK": "`module` with the functions in `SOURCE_CHECK_PARTS`",
}
STATELESS_PARTS = {
    "CALL_ARGUMENTS": "`module:Class` with the attributes in `CALL_ARGUMENTS_PARTS`",
}
"""Declared by games with the lifetime `call` only."""
SOURCE_CHECK_PARTS = {
    "find_candidates": "(sources) -> the files that may be the bot, as JSON objects",
    "find_roles": "(sources, wanted class) -> the roles that the bot has a class for",
    "find_problems": "(sources, target) -> findings that reject the bot",
    "find_advice": "(sources, wanted class) -> findings that do not reject it",
}
CALL_ARGUMENTS_PARTS = {
    "state": "(packet) -> first argument of a call; the attribute `history` is the second argument then",
    "from_observation": "(observation, names) -> both arguments, from an observation in JSON",
    "read_answer": "(value) -> the answer's text; raises `AnswerFault`",
    "ANSWERS": "answers that need no reading: text to bytes",
    "SOURCE_FILE": "name of the file that every bot must have",
    "SAMPLE_NAMES": "bot names for the warm-up",
    "SAMPLE_TURN": "a turn in the game's short form for the warm-up",
}


class UnknownGame(LoadError):
    """There is no package for this game."""

    def __init__(self, game: str) -> None:
        super().__init__(f"no Python API for the game {game!r}", hint=f"games: {', '.join(game_ids())}")


class MissingGamePart(LoadError):
    """A game's package does not declare a part, or declares a wrong value."""

    def __init__(self, game: str, part: str, meaning: str) -> None:
        hint = f"declare {part} in {_package(game)}: {meaning}"
        super().__init__(f"the Python package of the game {game!r} lacks {part}", hint=hint)


def game_ids() -> List[str]:
    """The ids of all games with a package, sorted."""
    folders = [(folder, name) for folder in __path__ for name in os.listdir(folder)]
    return sorted(name.replace("_", "-") for folder, name in folders if _is_package(folder, name))


def has_python_api(game: str) -> bool:
    """Whether there is a package for this game."""
    name = game.replace("-", "_")
    return "_" not in game and name.isidentifier() and any(_is_package(folder, name) for folder in __path__)


def game_part(game: str, part: str) -> Any:
    """The value of a part that the game's package declares."""
    return _attribute(_import(game), game, part, PARTS.get(part) or STATELESS_PARTS[part])


def lifetime(game: str) -> str:
    """How long the memory of the game's bots lasts: `call`, `game` or `match`."""
    value = game_part(game, "LIFETIME")
    if value not in LIFETIMES:
        raise MissingGamePart(game, "LIFETIME", PARTS["LIFETIME"])
    return str(value)


def bot_api(game: str) -> Any:
    """The game's subclass of `base.Shim`."""
    return _load(game, "BOT_API")


def source_check(game: str) -> Any:
    """The game's module that checks sources."""
    module = _import_part(game, "SOURCE_CHECK", str(game_part(game, "SOURCE_CHECK")))
    for name, meaning in SOURCE_CHECK_PARTS.items():
        _attribute(module, game, name, meaning)
    return module


def call_arguments(game: str) -> Any:
    """The class that makes the arguments of a call, of a game with the lifetime `call`."""
    kind = _load(game, "CALL_ARGUMENTS")
    for name, meaning in CALL_ARGUMENTS_PARTS.items():
        _attribute(kind, game, name, meaning)
    return kind


def check_declarations(game: str) -> None:
    """Raises an error for the first part that is missing."""
    for part in PARTS:
        game_part(game, part)
    bot_api(game)
    source_check(game)
    if lifetime(game) == "call":
        call_arguments(game)


def _package(game: str) -> str:
    return f"agon_bot/games/{game.replace('-', '_')}/"


def _is_package(folder: str, name: str) -> bool:
    return os.path.isfile(os.path.join(folder, name, "__init__.py"))


def _import(game: str) -> Any:
    """The game's package."""
    if not has_python_api(game):
        raise UnknownGame(game)
    name = f"{__name__}.{game.replace('-', '_')}"
    # Not `importlib`: see the module's comment on memory.
    __import__(name)
    return _modules[name]


def _import_part(game: str, part: str, module: str) -> Any:
    """The module of the game's package that a part names."""
    name = f"{_import(game).__name__}.{module}"
    try:
        __import__(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise MissingGamePart(game, f"the module {module}", f"named by {part}") from None
    return _modules[name]


def _attribute(owner: Any, game: str, part: str, meaning: str) -> Any:
    try:
        return getattr(owner, part)
    except AttributeError:
        raise MissingGamePart(game, part, meaning) from None


def _load(game: str, part: str) -> Any:
    """The attribute that a part names as `module:attribute`."""
    module, _, name = str(game_part(game, part)).partition(":")
    return _attribute(_import_part(game, part, module), game, name, f"named by {part}")
