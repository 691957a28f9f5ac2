"""Solitude Scramble: `get_action(state, match_history)` of `Submission.py`. Each call is a new life: see
`stateless.py`."""

from __future__ import annotations

import ast
from typing import Any, Callable, Dict, List

from .. import loading
from ..answers import solitude_move
from ..errors import LoadError
from .base import Message, Shim

FILE = "Submission.py"
FUNCTION = "get_action"
PLATFORMS = ("CENTER", "NW", "NE", "SW", "SE")
"""In the order of the competition's document: a bot that takes the first of several equals depends on it."""


class Solitude(Shim):
    """A Solitude Scramble bot. `stateless.Stateless` decides in which process `turn` runs."""

    game = "solitude-scramble"

    def prepare(self, hello: Message) -> None:
        """All that can be checked without running a line of the bot."""
        self.names: List[str] = [str(name) for name in hello.get("names") or []]
        self.file = loading.choose_file(
            self.target, lambda tree, file: True, f"def {FUNCTION}(state, match_history)", FILE
        )
        tree = loading.parse(self.file, self.target.root or self.target.path)
        defined = [
            n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)) and n.name == FUNCTION
        ]
        if any(isinstance(node, ast.AsyncFunctionDef) for node in defined):
            raise LoadError(f"{FUNCTION} is an async function", FILE, defined[0].lineno, "write def, not async def")

    def load(self, hello: Message) -> Message:
        self.prepare(hello)
        loaded = loading.execute(self.file, self.target.root)
        self.root = loaded.root
        function = getattr(loaded.module, FUNCTION, None)
        if not callable(function):
            raise LoadError(
                f"has no function {FUNCTION}", loaded.shown, None, f"write def {FUNCTION}(state, match_history)"
            )
        code = getattr(function, "__code__", None)
        # `*args` (flag 4) takes any number.
        if (
            code is not None
            and not code.co_flags & 4
            and (code.co_argcount < 2 or code.co_argcount - len(function.__defaults__ or ()) > 2)
        ):
            raise LoadError(
                f"{FUNCTION} takes {code.co_argcount} parameters, not 2",
                loaded.shown,
                code.co_firstlineno,
                f"write def {FUNCTION}(state, match_history)",
            )
        self.function: Callable[[Dict[str, Any], List[Dict[str, Any]]], Any] = function
        return {"name": None, "contributor": None}

    def turn(self, message: Message) -> str:
        seen = message["observation"]
        names = self._names(len(seen["sides"]))
        return solitude_move(self.function(state(seen, names), history(seen, names)))

    def _names(self, seats: int) -> List[str]:
        """Bot ids in seat order, all different: they are keys of dictionaries."""
        names = [*self.names, *(f"bot_{n}" for n in range(len(self.names), seats))][:seats]
        return [name if name not in names[:seat] else f"{name} ({seat + 1})" for seat, name in enumerate(names)]


def state(seen: Dict[str, Any], names: List[str]) -> Dict[str, Any]:
    """The `state` of the competition's document."""
    seat = seen["seat"]
    others = {name: side for n, (name, side) in enumerate(zip(names, seen["sides"])) if n != seat}
    return {
        "my_id": names[seat],
        "my_position": seen["sides"][seat],
        "current_turn": seen["turn"],
        "platform_scores": {name: seen["platform_scores"][name] for name in PLATFORMS},
        "opponent_positions": others,
    }


def history(seen: Dict[str, Any], names: List[str]) -> List[Dict[str, Any]]:
    """The `match_history` of the competition's document: `scores_awarded` holds only those who scored."""
    return [
        {
            "turn": turn["turn"],
            "platform_scores": {name: turn["platform_scores"][name] for name in PLATFORMS},
            "player_move": dict(zip(names, turn["moves"])),
            "scores_awarded": {name: points for name, points in zip(names, turn["awards"]) if points},
            "players_map": dict(zip(turn["sides"], names)),
        }
        for turn in seen["history"]
    ]
