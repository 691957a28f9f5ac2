"""A host for tests of the zygote: asks it for bots and talks to them in packets.

This file has its own implementation of the short forms of turns, made from the observations in JSON: both must be the same.
"""

from __future__ import annotations

import json
import os
import select
import socket
import struct
import subprocess
import sys
import tempfile
import unittest
from typing import Any, Dict, List, Optional

from bot_process import PACKAGE, HANG_TIMEOUT, SIDES, BotFolderTestCase

MAX_PACKET_BYTES = 64 << 10
MAX_PIPE_BYTES = 4096
PLATFORMS = ("CENTER", "NW", "NE", "SW", "SE")
MOVES = ("LEFT", "RIGHT", "CENTER", "NONE")


class ZygoteProcess:
    """A zygote's process."""

    def __init__(
        self, plain: bool = False, package: str = PACKAGE, environment: Optional[Dict[str, str]] = None
    ) -> None:
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        words = ["-S", "-m", "agon_bot", "--zygote", "plain"] if plain else ["-m", "agon_bot", "--zygote"]
        env = {
            "PYTHONPATH": package,
            "PYTHONHASHSEED": "0",
            "AGON_CONTROL": str(theirs.fileno()),
            "AGON_PATH": os.pathsep.join(path for path in sys.path if path),
            **(environment or {}),
        }
        self.process = subprocess.Popen([sys.executable, *words], env=env, pass_fds=[theirs.fileno()])
        theirs.close()
        self.control.settimeout(HANG_TIMEOUT)
        assert self.control.recv(64) == b"ready"

    def send(self, request: Any, descriptors: List[int]) -> None:
        data = request if isinstance(request, bytes) else json.dumps(request).encode()
        socket.send_fds(self.control, [data], descriptors)

    def bot(self, target: str, game: str = "connect-five", cgroup_files: Any = (), **request: Any) -> ForkedBot:
        """Asks for a bot."""
        child = ForkedBot(game != "solitude-scramble")
        self.send(
            {"game": game, "target": target, "namespaces": None, "core": None, "turns": child.turns >= 0, **request},
            [child.their_reports, child.log.fileno(), child.their_requests, child.their_answers, *child.their_turns, *cgroup_files],
        )
        child.close_their_ends()
        return child

    def children(self) -> List[int]:
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as file:
            return [int(word) for word in file.read().split()]

    def close(self) -> int:
        self.control.close()
        try:
            return self.process.wait(HANG_TIMEOUT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise


class ForkedBot:
    """A bot that the zygote was asked for."""

    def __init__(self, has_turn_pipe: bool = False) -> None:
        self.log = tempfile.TemporaryFile()
        self.theirs: List[socket.socket] = []
        self.reports, self.requests, self.answers = self.pair(), self.pair(), self.pair()
        self.their_reports, self.their_requests, self.their_answers = (end.fileno() for end in self.theirs)
        self.their_turns: List[int] = []
        self.turns = -1
        if has_turn_pipe:
            theirs, self.turns = os.pipe2(os.O_CLOEXEC | os.O_DIRECT)
            self.their_turns = [theirs]
        self.expects_turns = False
        self.number = 0
        self.stateless = not has_turn_pipe
        """Whether each turn comes with a new socket for its answer."""
        self.call: Optional[socket.socket] = None

    def pair(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.settimeout(HANG_TIMEOUT)
        self.theirs.append(theirs)
        return ours

    def close_their_ends(self) -> None:
        for end in self.theirs:
            end.close()
        for end in self.their_turns:
            os.close(end)

    def next_report(self) -> Any:
        """The next report; `None` when there will be no more."""
        data = self.reports.recv(1 << 16)
        return json.loads(data) if data else None

    def entered(self) -> int:
        """Waits until the bot is in its sandbox. Returns its process id."""
        # The two reports come in any request.
        reports = [self.next_report(), self.next_report()]
        assert "entered" in reports, reports
        self.pid = int(next(word["pid"] for word in reports if word != "entered"))
        return self.pid

    def send(self, data: bytes) -> None:
        """Sends a message: through the pipe if it is a turn after a turn, in parts if it is long."""
        is_turn, expected = data[:1] == b"\1", self.expects_turns
        self.expects_turns = is_turn and self.turns >= 0
        if is_turn and expected and len(data) <= MAX_PIPE_BYTES:
            os.write(self.turns, data)
            return
        if expected:
            os.write(self.turns, b"\3")
        first = data if len(data) <= MAX_PACKET_BYTES else struct.pack("<B3xI", 2, len(data))
        if self.stateless and (is_turn or data.startswith(b'{"type":"turn"')):
            self.close_call()
            self.call, theirs = self.new_pair()
            socket.send_fds(self.requests, [first], [theirs.fileno()])
            theirs.close()
        else:
            self.requests.send(first)
        if len(data) <= MAX_PACKET_BYTES:
            return
        for start in range(0, len(data), MAX_PACKET_BYTES):
            self.requests.send(data[start : start + MAX_PACKET_BYTES])

    def receive(self) -> Dict[str, Any]:
        data = self.call.recv(1 << 20) if self.call is not None else b""
        if not data:  # the call has ended without an answer, or the message was no turn
            data = self.receive_report()
        if not data:
            raise EOFError("the bot's process ended: " + self.said())
        if data[:1] == b"=":
            return {"id": struct.unpack_from("<I", data, 1)[0], "answer": data[5:].decode()}
        return json.loads(data)

    def receive_report(self) -> bytes:
        """A message that is not the answer of a call."""
        data = self.answers.recv(1 << 20)
        while data == b"+":  # the fork that gave the last answer has ended
            data = self.answers.recv(1 << 20)
        return data

    @staticmethod
    def new_pair() -> Any:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.settimeout(HANG_TIMEOUT)
        return ours, theirs

    def close_call(self) -> None:
        if self.call is not None:
            self.call.close()
            self.call = None

    def ask(self, **message: Any) -> Dict[str, Any]:
        self.number += 1
        # Written exactly as the host does: between games the bot recognises a message by its first bytes.
        message = {"type": message.pop("type"), "id": self.number, **message}
        if message["type"] != "turn":
            self.close_call()
        self.send(json.dumps(message, separators=(",", ":")).encode())
        reply = self.receive()
        assert reply.pop("id") == self.number, reply
        return reply

    def hello(self, seed: int = 7, names: Optional[List[str]] = None, **more: Any) -> Dict[str, Any]:
        return self.ask(type="hello", protocol=1, seed=str(seed), names=names, **more)

    def start(self, seed: int = 1) -> Dict[str, Any]:
        return self.ask(type="start", number=1, seed=str(seed))

    def turn(self, packed: bytes, limit_ms: int = 2000) -> Dict[str, Any]:
        """Sends a turn in the game's short form."""
        self.number += 1
        self.send(struct.pack("<B3xII", 1, self.number, limit_ms) + packed)
        reply = self.receive()
        assert reply.pop("id") == self.number, reply
        return reply

    def ends_match(self) -> bool:
        """Ends a match that a fork plays. Returns whether the fork then ended without a word."""
        self.send(b'{"type":"bye"}')
        return self.answers.recv(1 << 20) == b"*"

    def is_silent(self, seconds: float = 0.2) -> bool:
        return not select.select([self.answers], [], [], seconds)[0]

    def said(self) -> str:
        """The bot's output."""
        self.log.seek(0)
        return self.log.read().decode("utf-8", "replace")

    def stop_asking(self) -> None:
        self.requests.close()
        if self.turns >= 0:
            os.close(self.turns)
            self.turns = -1

    def close_connection(self) -> None:
        self.stop_asking()
        self.close_call()
        for end in (self.answers, self.reports):
            end.close()

    def close(self) -> None:
        self.close_connection()
        self.log.close()


def library_is_open() -> bool:
    """Whether every user can read Python's library."""
    folder = os.path.dirname(os.path.realpath(os.__file__))
    while folder != "/" and os.stat(folder).st_mode & 0o5 == 0o5:
        folder = os.path.dirname(folder)
    return folder == "/"


needs_library = unittest.skipUnless(
    os.geteuid() != 0 or library_is_open(), "only root can read Python's library"
)


class ZygoteTestCase(BotFolderTestCase):
    """A test with a folder for bots and one zygote for the whole class."""

    plain = False

    @classmethod
    def setUpClass(cls) -> None:
        cls.parent = ZygoteProcess(cls.plain)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.parent.close()

    def bot(self, target: str, game: str = "connect-five", **request: Any) -> ForkedBot:
        """A bot in its sandbox."""
        child = self.parent.bot(target, game, **request)
        self.addCleanup(child.close)
        child.entered()
        return child

    def unprivileged(self) -> Dict[str, Any]:
        """Keys of a request that make the limit on processes effective: it does not apply to root. The other user may not be
        able to read Python's library: `needs_library` is for bots that need more of it."""
        os.chmod(self.folder, 0o755)
        return {"drop": True, "user": [65534, 65534]} if os.geteuid() == 0 else {}


def pack_colour(seen: Dict[str, Any]) -> bytes:
    info, enemies = seen["game_info"], seen["enemies"]
    size, count = info["grid_size"], len(seen["enemies"])
    head = struct.pack(
        "<IIHHH2x", info["current_round"], info["number_of_rounds"], size, count, seen["id"]
    )
    places = [number for enemy in enemies for number in enemy["position"]]
    tiles = [tile for row in seen["grid"] for tile in row]
    words = [*(enemy["id"] for enemy in enemies), *seen["position"], *places, *tiles]
    return head + struct.pack(f"<{len(words)}h", *words)


def pack_connect(seen: Dict[str, Any]) -> bytes:
    board = seen["board"]
    head = struct.pack("<dIBBBx", seen["T"], seen["N"], seen["player"], len(board), len(board[0]))
    return head + bytes(cell for row in board for cell in row)


def pack_hide(seen: Dict[str, Any], first: bool) -> bytes:
    room = seen["game_map"]
    sides = (len(room), len(room[0])) if first else (0, 0)
    cells = [*seen["pos"], *seen["enemy_pos"], *seen["spawn_position"], *seen["enemy_spawn_position"]]
    head = struct.pack("<IBBBx8h", seen["step"], seen["enemy_is_visible"], *sides, *cells)
    return head + (bytes(cell for column in room for cell in column) if first else b"")


def pack_solitude(seen: Dict[str, Any]) -> bytes:
    def deal(turn: Dict[str, Any]) -> bytes:
        scores = [turn["platform_scores"][name] for name in PLATFORMS]
        return bytes([*scores, *(SIDES.index(side) for side in turn["sides"])])

    rows = [
        deal(turn) + bytes(MOVES.index(move) for move in turn["moves"]) + bytes(turn["awards"])
        for turn in seen["history"]
    ]
    return bytes([seen["turn"], seen["seat"]]) + deal(seen) + b"".join(rows)
