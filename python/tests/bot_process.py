"""A host for tests: starts `python -m agon_bot`, speaks the protocol, fails when nothing happens for two minutes."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import textwrap
import unittest
from typing import Any, Dict, List, Optional

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.dirname(HERE)
BOTS = os.path.join(HERE, "bots")
HANG_TIMEOUT = 120.0
"""Seconds after which a test fails; only a test that hangs waits that long."""
sys.path.insert(0, PACKAGE)

try:
    import numpy  # noqa: F401

    NUMPY = True
except ImportError:
    NUMPY = False

needs_numpy = unittest.skipUnless(NUMPY, "NumPy is not installed")


class BotProcess:
    """A bot's process."""

    def __init__(
        self,
        game: str,
        target: str,
        seed: int = 7,
        seat: int = 0,
        names: Optional[List[str]] = None,
        environment: Optional[Dict[str, str]] = None,
        hello: bool = True,
    ) -> None:
        self.log = tempfile.TemporaryFile()
        env = {
            "PATH": os.environ.get("PATH", ""),
            "PYTHONPATH": PACKAGE,
            "PYTHONHASHSEED": "0",
            "AGON_SEED": str(seed),
            **(environment or {}),
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "agon_bot", game, target],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
        )
        self.number = 0
        self.pending = b""
        self.lines: List[bytes] = []
        role = ["seeker", "hider"][seat % 2] if game == "hide-and-seek" else "player"
        if hello:
            self.ready = self.ask(
                type="hello",
                protocol=1,
                game=game,
                rules=1,
                seat=seat,
                seats=4,
                role=role,
                names=names,
                settings={},
                seed=str(seed),
                limits={},
            )

    def send(self, **message: Any) -> int:
        self.number += 1
        line = json.dumps({"id": self.number, **message}).encode() + b"\n"
        assert self.process.stdin
        self.process.stdin.write(line)
        self.process.stdin.flush()
        return self.number

    def receive(self) -> Dict[str, Any]:
        assert self.process.stdout
        while b"\n" not in self.pending:
            if not select.select([self.process.stdout], [], [], HANG_TIMEOUT)[0]:
                raise AssertionError("no reply: " + self.said())
            chunk = os.read(self.process.stdout.fileno(), 1 << 16)
            if not chunk:
                raise EOFError("the bot's process ended: " + self.said())
            self.pending += chunk
        line, _, self.pending = self.pending.partition(b"\n")
        self.lines.append(line)
        return json.loads(line)

    def ask(self, **message: Any) -> Dict[str, Any]:
        number = self.send(**message)
        reply = self.receive()
        assert reply["id"] == number, reply
        return reply

    def start(self, seed: int = 1) -> Dict[str, Any]:
        return self.ask(type="start", number=1, seed=str(seed))

    def turn(self, observation: Dict[str, Any], limit_ms: int = 2000) -> Dict[str, Any]:
        return self.ask(type="turn", request="move", limit_ms=limit_ms, observation=observation)

    def said(self) -> str:
        """The bot's output on both streams."""
        self.log.seek(0)
        return self.log.read().decode("utf-8", "replace")

    def close(self) -> int:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        try:
            code = self.process.wait(HANG_TIMEOUT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self.rest = self.pending + self.process.stdout.read()
        self.process.stdout.close()
        return code

    def __enter__(self) -> BotProcess:
        return self

    def __exit__(self, *_: Any) -> None:
        if self.process.stdin and not self.process.stdin.closed:
            self.close()
        self.log.close()


class BotFolderTestCase(unittest.TestCase):
    """A test with a temporary folder for bots."""

    def setUp(self) -> None:
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = self.temporary.name
        self.addCleanup(self.temporary.cleanup)

    def write(self, name: str, text: str) -> str:
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(text))
        return path

    def error(self, game: str, target: str, **more: Any) -> Dict[str, Any]:
        """The load error of a bot."""
        with BotProcess(game, target, **more) as process:
            self.assertIn("error", process.ready, process.said())
            self.assertEqual(process.close(), 2)
            return process.ready["error"]


SIDES = ["NORTH", "EAST", "SOUTH", "WEST"]


def solitude(turn: int = 1, seat: int = 0, history: Optional[List[Dict[str, Any]]] = None) -> Dict[str, Any]:
    """An observation of Solitude Scramble."""
    scores = {"NE": 2, "NW": 3, "SE": 5, "SW": 4, "CENTER": 1}
    past = (
        history
        if history is not None
        else [
            {
                "turn": n,
                "platform_scores": scores,
                "sides": SIDES,
                "moves": ["LEFT", "RIGHT", "NONE", "CENTER"],
                "awards": [0, 2, 0, 1],
            }
            for n in range(1, turn)
        ]
    )
    return {"seat": seat, "turn": turn, "turns": 10, "platform_scores": scores, "sides": SIDES, "history": past}


def colour(
    round: int = 1,
    size: int = 12,
    own: int = 2,
    grid: Optional[List[List[int]]] = None,
    places: Optional[List[List[int]]] = None,
) -> Dict[str, Any]:
    """An observation of Colour Battle."""
    places = places or [[1, 1], [5, 6]]
    return {
        "id": own,
        "position": places[own - 1],
        "grid": grid or [[0] * size for _ in range(size)],
        "enemies": [{"id": n + 1, "position": place} for n, place in enumerate(places)],
        "game_info": {"current_round": round, "number_of_rounds": 100, "grid_size": size},
    }


def connect(column_full: Optional[int] = None, player: int = 1, games: int = 0) -> Dict[str, Any]:
    """An observation of Connect Five."""
    board = [[1 if column == column_full else 0 for column in range(9)] for _ in range(7)]
    return {"board": board, "player": player, "T": 1, "N": games}


def hide(
    step: int = 1,
    pos: Any = (3, 4),
    enemy: Any = (15, 14),
    visible: bool = False,
    role: str = "seeker",
    walls: Any = (),
) -> Dict[str, Any]:
    """An observation of Hide and Seek."""
    room = [[1 if (x, y) in walls else 0 for y in range(20)] for x in range(20)]
    return {
        "role": role,
        "step": step,
        "steps": 4000,
        "pos": list(pos),
        "enemy_is_visible": visible,
        "enemy_pos": list(enemy),
        "spawn_position": [3, 4],
        "enemy_spawn_position": [15, 14],
        "game_map": room,
    }
