"""A bot that forgets, audited: all calls in one process, and all of them again, in another order, in a fork of the
process as it was after loading. The answers must be the same.

A host that keeps the calls itself asks for those of many games at once (`audit`, see `Audited.audit`): then one fork
does for all of them. Otherwise each game's calls are made again when it is over (`end`).
"""

from __future__ import annotations

import os

from .lean import _NOTHING, _NPROC, DONE, Lean, _close, _exit, _fork, _header, _setrlimit, _waitpid, _write, call_seed
from .remains import how_it_ended
from .seeding import derive, seed_all
from .tinyjson import dumps, loads
from .views import HEAD, ROW, View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List

    Message = Dict[str, Any]


class Audited(Lean):
    """One bot, one host, from hello to the end. All calls in this process."""

    PATIENCE = 24000
    """Milliseconds for the audit of a game: as long as the calls may take, and a little more."""

    def load(self, plan: Message) -> None:
        super().load(plan)
        self.asked: List[bytes] = []
        self.gave: List[str] = []
        down, self.down = os.pipe()
        self.up, up = os.pipe()
        self.keeper = os.fork()
        if self.keeper == 0:
            try:
                _close(self.packets.asked)
                _close(self.down)
                _close(self.up)
                self.keep(down, up)
            finally:
                _exit(DONE)
        _close(down)
        _close(up)

    def reply(self, kind: Any, message: Message) -> Message:
        return self.audit(message) if kind == "audit" else super().reply(kind, message)

    def start(self, message: Message) -> None:
        super().start(message)
        self.asked, self.gave = [], []

    def keep(self, asked: int, replies: int) -> None:
        """In the keeper, which has never run a call: forks for each audit."""
        while True:
            size = os.read(asked, 4)
            if len(size) < 4:
                return
            order = read_all(asked, int.from_bytes(size, "little"))
            child = _fork()
            if child == 0:
                try:
                    _setrlimit(_NPROC, _NOTHING)
                    write_sized(replies, self.again(*loads(order.decode())))
                finally:
                    _exit(DONE)
            status = _waitpid(child, 0)[1]
            if status != DONE << 8:
                write_sized(replies, [how_it_ended(status)])

    def again(self, games: List[Any], calls: List[Any]) -> List[str]:
        """What these calls give. A game is names and a seed, a call the number of its game and the turn."""
        # Nobody hears it, neither its answers nor what it prints: both were heard the first time.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for descriptor in (1, 2, self.packets.answers):
            os.dup2(nowhere, descriptor)
        _close(nowhere)
        views = [(View(names), seed) for names, seed in games]
        gave = []
        for number, text in calls:
            view, self.game = views[number]
            gave.append(self.one(view, bytes.fromhex(text)))
        return gave

    def one(self, view: View, data: Any) -> str:
        """One call, in this process. What the bot gets is its own: it may change it."""
        state, history = view.copies(data)
        seed_all(call_seed(self.game, data[12]))
        return self.call_and_send(_header(data)[0], state, history)

    def turn(self) -> None:
        data = self.packets.buffer
        kept = bytes(data[: HEAD + ROW * (data[12] - 1)])
        self.gave.append(self.one(self.view, kept))
        self.asked.append(kept)

    def end(self) -> Message:
        calls, gave = self.asked, self.gave
        self.asked, self.gave = [], []
        if not calls:
            return {}
        order = sorted(range(len(calls)), key=lambda n: (self.game ^ n * 0x9E3779B97F4A7C15) * 0xBF58476D1CE4E5B9 >> 40 & 0xFFFF)
        if len(order) > 1 and order == sorted(order):
            order.reverse()
        write_sized(self.down, [[[self.names, self.game]], [[0, calls[n].hex()] for n in order]])
        again = self.hear(self.PATIENCE)
        if len(again) == 1:
            # Not an answer but how the audit ended.
            again *= len(order)
        for n, second in sorted(zip(order, again + ["nothing"] * len(order))):
            if gave[n] != second:
                return {"audit": {"same": False, "turn": calls[n][12], "first": gave[n], "again": second}}
        return {"audit": {"same": True, "calls": len(calls)}}

    def audit(self, message: Message) -> Message:
        """What calls give that the host has kept: `games` are names and the seeds of `hello` and `start`, `calls` the
        number of a game and a turn in its short form, hexadecimal, in the order in which they are to be made."""
        games = [[names, derive(derive(base), derive(seed))] for names, base, seed in message["games"]]
        write_sized(self.down, [games, message["calls"]])
        again = self.hear(int(message["patience_ms"]))
        if self.leaves or len(again) != len(message["calls"]):
            return {"broken": again[0] if again else "nothing"}
        return {"again": again}

    def hear(self, patience: int) -> List[str]:
        """What the keeper says."""
        import select

        poller = select.poll()
        poller.register(self.up, select.POLLIN)
        if not poller.poll(patience):
            # What it says later would be about another game: this process ends, and the next game has a new one.
            self.leaves = True
            return ["no answer in time"]
        said = loads(read_all(self.up, int.from_bytes(read_all(self.up, 4), "little")).decode())
        return [str(text) for text in said]


def write_sized(descriptor: int, value: Any) -> None:
    """Writes a value with its length before it."""
    data = dumps(value).encode()
    data = len(data).to_bytes(4, "little") + data
    while data:
        data = data[_write(descriptor, data) :]


def read_all(descriptor: int, size: int) -> bytes:
    """So many bytes."""
    data = b""
    while len(data) < size:
        chunk = os.read(descriptor, size - len(data))
        if not chunk:
            break
        data += chunk
    return data
