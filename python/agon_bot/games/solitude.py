"""Solitude Scramble: `get_action(state, match_history)` of `Submission.py`. Each call is a new life: see
`stateless.py`."""

from __future__ import annotations

import ast
from typing import Any, Callable, Dict, List, Tuple

from .. import loading
from ..answers import solitude_move
from ..errors import LoadError
from ..views import PLATFORMS, View, distinct
from .base import Message, Shim

FILE = "Submission.py"
FUNCTION = "get_action"


class Solitude(Shim):
    """A Solitude Scramble bot. `stateless.Strict` decides in which process `turn` runs."""

    game = "solitude-scramble"
    lives = "call"

    def prepare(self, hello: Message) -> None:
        """All that can be checked without running a line of the bot."""
        self.names: List[str] = [str(name) for name in hello.get("names") or []]
        self.view = View(self.names)
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

    def meet(self, hello: Message) -> None:
        super().meet(hello)
        self.names = [str(name) for name in hello.get("names") or []]
        self.view = View(self.names)

    def start(self, message: Message) -> None:
        self.view = View(self.names)

    def turn(self, message: Message) -> str:
        return self.decide(*self.arguments(message))

    def arguments(self, message: Message) -> Tuple[Dict[str, Any], List[Dict[str, Any]]]:
        """What the bot is called with."""
        return arguments(message["observation"], self.names)

    def decide(self, state: Dict[str, Any], history: List[Dict[str, Any]]) -> str:
        """The call itself."""
        return solitude_move(self.function(state, history))


def state(names: List[str], seat: int, turn: int, scores: Any, sides: List[str]) -> Message:
    """The `state` of the competition's document. `scores` in the order of `PLATFORMS`."""
    others = dict(zip(names, sides))
    del others[names[seat]]
    return {
        "my_id": names[seat],
        "my_position": sides[seat],
        "current_turn": turn,
        "platform_scores": dict(zip(PLATFORMS, scores)),
        "opponent_positions": others,
    }


def past(names: List[str], turn: int, scores: Any, sides: List[str], moves: List[str], awards: Any) -> Message:
    """One entry of the document's `match_history`: `scores_awarded` holds only those who scored."""
    return {
        "turn": turn,
        "platform_scores": dict(zip(PLATFORMS, scores)),
        "player_move": dict(zip(names, moves)),
        "scores_awarded": {name: points for name, points in zip(names, awards) if points},
        "players_map": dict(zip(sides, names)),
    }


def arguments(seen: Message, names: List[str]) -> Tuple[Dict[str, Any], List[Dict[str, Any]]]:
    """The `state` and `match_history` of the competition's document."""
    names = distinct(names, len(seen["sides"]))
    scores = [seen["platform_scores"][name] for name in PLATFORMS]
    history = [
        past(
            names,
            turn["turn"],
            [turn["platform_scores"][name] for name in PLATFORMS],
            turn["sides"],
            turn["moves"],
            turn["awards"],
        )
        for turn in seen["history"]
    ]
    return state(names, seen["seat"], seen["turn"], scores, seen["sides"]), history
