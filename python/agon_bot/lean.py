"""A bot that forgets, with as little around it as can be.

Each call of such a bot is a fork of the process that has loaded it, and a fork costs what the process has: memory to be
shared, and pages to be copied when they are touched, in the fork and here. So this module and what it imports do
without most of Python's library; what is seldom needed (checking a bot, words for a fault) is done in forks that
import what they like. See `warm.py` for the conversation, `stateless.py` for what is promised.
"""

from __future__ import annotations

import ctypes
import fcntl
import gc
import os
import random
import resource

from . import PROTOCOL, enter
from .packages import lay
from .packets import AGAIN, HEADER, TURN, Packets, plain
from .remains import how_it_ended, open_descriptors
from .seating import check, execute, settle
from .seeding import derive, seed_all, warm_numpy
from .streams import write_at_once
from .tinyjson import loads
from .views import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List

    Message = Dict[str, Any]

# Kept by name: a bot may replace them where it finds them.
_exit, _waitpid, _waitid, _close, _write = os._exit, os.waitpid, os.waitid, os.close, os.write
_setrlimit, _NPROC, _PID, _ENDED = resource.setrlimit, resource.RLIMIT_NPROC, os.P_PID, os.WEXITED | os.WNOWAIT
_fcntl, _GETFL, _SETFL, _EXITED = fcntl.fcntl, fcntl.F_GETFL, fcntl.F_SETFL, os.CLD_EXITED
_header = HEADER.unpack_from
_NOTHING = (0, 0)
# Straight to the C library. Python's own functions see to much that matters to threads (`fork`), or let other threads
# run meanwhile (all of them), which is pages touched for nothing where there are none.
_libc = ctypes.PyDLL(None)
_fork = getattr(_libc, "_Fork", _libc.fork)
_NATIVE = _libc.close, _libc.setrlimit, _libc.write, _libc._exit
_NONE = (ctypes.c_ulong * 2)()
"""A limit of nothing."""

DONE = 77
"""The exit code of a fork that has done what it was for."""
ALLOWED = {"LEFT": b"LEFT", "RIGHT": b"RIGHT", "CENTER": b"CENTER"}
FIRST_SIZE = 1 << 16
"""Room for what comes: the longest packet. Every page of it is one that forks share."""


_DEAL = bytes([1, 2, 3, 4, 5, 0, 1, 2, 3])
SOME_TURN = bytes([TURN, *bytes(11), 3, 0]) + _DEAL + (_DEAL + bytes([0, 1, 2, 3, 0, 0, 1, 2])) * 2
"""To rehearse with."""


def call_seed(game: int, turn: int) -> int:
    """Chance for one call: decided by the bot's seed, the game and the turn, by nothing that happened before."""
    return game + turn * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF


def play(order: Message, asked: int, answers: int) -> int:
    """Plays the bot of an order. Returns the exit code."""
    return Lean(Packets(asked, answers, FIRST_SIZE), str(order["target"])).run()


class Lean:
    """One bot, one host, from hello to the end. Each call in a fork."""

    def __init__(self, packets: Packets, target: str) -> None:
        self.packets = packets
        self.target = target
        self.root = target
        self.function: Any = None
        self.view = View([])
        self.base = 0
        self.game = 0
        self.flags = 0
        self.call = 0
        """The fork that gave the last answer. It stays a zombie until the next, so that the host can measure it."""

    def run(self) -> int:
        """Talks until the host says bye or hangs up."""
        packets = self.packets
        while True:
            count = packets.receive()
            if count == 0:
                return 0
            if packets.buffer[0] == TURN:
                self.turn()
                continue
            message = loads(packets.view[:count].tobytes().decode())
            kind = message.get("type")
            if kind == "bye":
                return 0
            if kind == "turn":
                self.long_turn(message)
                continue
            reply = self.reply(kind, message)
            packets.send({**reply, "id": message.get("id")})
            if "error" in reply:
                return 2

    def reply(self, kind: Any, message: Message) -> Message:
        """What is said to a message that is no turn."""
        if kind == "hello":
            return self.hello(message)
        if kind == "start":
            self.start(message)
        elif kind == "end":
            return self.end()
        return {}

    def hello(self, message: Message) -> Message:
        """Loads the bot, if that was not done for an earlier game."""
        if self.function is None:
            checked = check(self.target, message)
            if "error" in checked:
                return checked
            try:
                self.load(checked)
            except BaseException as error:  # what was fine a moment ago
                from .errors import load_error

                return {"error": load_error(error, checked["root"], checked["file"]).message()}
        self.names = [str(name) for name in message.get("names") or []]
        self.base = derive(message.get("seed", ""))
        return {"protocol": PROTOCOL}

    def load(self, plan: Message) -> None:
        """Executes the bot's file. Everything that can be wrong with it was found in a fork."""
        write_at_once()
        # Nobody asks it anything there, and what is no longer open cannot be marked for the next call.
        _close(0)
        enter.forbid_writing()
        enter.adopt_orphans()
        known = open_descriptors()
        warm_numpy(plan["file"])
        seed_all(0)
        lay(plan["packages"])
        self.root = plan["root"]
        self.function = execute(plan["file"], plan["name"]).__dict__["get_action"]
        settle(known)
        self.flags = _fcntl(2, _GETFL)
        make_ready()

    def start(self, message: Message) -> None:
        """A game begins."""
        self.game = derive(self.base, derive(message.get("seed", "")))
        self.view = View(self.names)

    def end(self) -> Message:
        """The game is over."""
        return {}

    def turn(self) -> None:
        """One call, in a fork."""
        packets = self.packets
        data = packets.buffer
        view = self.view
        state = view.state(data)
        seed_all(call_seed(self.game, data[12]))
        if self.call:
            _waitpid(self.call, 0)
        # All forks share it: a mark that one left there would be seen by the next.
        _fcntl(2, _SETFL, self.flags)
        history, head = view.history, b"=" + data[4:8]
        child = _fork()
        if child == 0:
            self.live(_NATIVE, state, history, head)
        self.call = child
        end = _waitid(_PID, child, _ENDED)
        if end is None or end.si_status != DONE or end.si_code != _EXITED:
            self.broken(_header(data)[0])
        else:
            # Only now can another call be made: until a fork has ended, its end may wait for a processor.
            _write(packets.answers, AGAIN)

    def live(self, native: Any, state: Message, history: List[Message], head: bytes) -> None:
        """In the fork: the call, and the end. Every page touched here is a page copied: as little as can be, by short
        ways, and rehearsed."""
        close, limit, write, leave = native
        code = 1
        try:
            # Not the next question: that is for another. And nothing is started that could outlive the answer.
            if close(self.packets.asked) == 0 and limit(_NPROC, _NONE) == 0:
                try:
                    move = self.function(state, history)
                except BaseException as error:  # sys.exit, KeyboardInterrupt: all the bot's doing
                    result = fault(error, self.root)
                else:
                    if type(move) is str and move in ALLOWED:
                        packet = head + ALLOWED[move]
                        if write(self.packets.answers, packet, len(packet)) > 0:
                            code = DONE
                        return
                    result = odd(move, self.root)
                self.packets.send({**result, "id": int.from_bytes(head[1:], "little")})
                code = DONE
        finally:
            leave(code)

    def long_turn(self, message: Message) -> None:
        """One call of a game that is longer than the short form can tell."""
        from .games.solitude import arguments

        seen = message["observation"]
        state, history = arguments(seen, self.names)
        seed_all(call_seed(self.game, seen["turn"]))
        if self.call:
            _waitpid(self.call, 0)
        child = _fork()
        if child == 0:
            code = 1
            try:
                _close(self.packets.asked)
                _setrlimit(_NPROC, _NOTHING)
                self.call_and_send(int(message["id"]), state, history)
                code = DONE
            finally:
                _exit(code)
        self.call = child
        end = _waitid(_PID, child, _ENDED)
        if end is None or end.si_status != DONE or end.si_code != _EXITED:
            self.broken(int(message["id"]))
        else:
            _write(self.packets.answers, AGAIN)

    def broken(self, number: int) -> None:
        """Says how a fork ended that did not end as it should."""
        status = _waitpid(self.call, 0)[1]
        self.call = 0
        self.packets.send({"id": number, "ended": how_it_ended(status)})

    def call_and_send(self, number: int, state: Message, history: List[Message]) -> None:
        """The call itself."""
        try:
            move = self.function(state, history)
        except BaseException as error:  # sys.exit, KeyboardInterrupt: all the bot's doing
            result = fault(error, self.root)
        else:
            if type(move) is str and move in ALLOWED:
                _write(self.packets.answers, plain(number, move))
                return
            result = odd(move, self.root)
        self.packets.send({**result, "id": number})


def odd(move: Any, root: str) -> Message:
    """What comes of an answer that is not simply one of three words."""
    from .answers import solitude_move

    try:
        return {"answer": solitude_move(move)}
    except BaseException as error:
        return fault(error, root)


def fault(error: BaseException, root: str) -> Message:
    """What goes into the record for an exception."""
    from .errors import AnswerFault, crash_words

    if isinstance(error, AnswerFault):
        return {"fault": error.fault, "says": error.says}
    return {"fault": "crash", "says": crash_words(error, root)}


def make_ready() -> None:
    """What is done before the first call, when the bot is loaded."""
    rehearse()
    gc.collect()
    # What exists now is shared with every fork; the collector need not look at it again, nor run in a short call.
    gc.freeze()
    gc.set_threshold(20000, 10, 10)
    enter.give_back_memory()


def rehearse() -> None:
    """Runs our own part of a call a few times, and what bots use most: the interpreter rewrites code it runs often, and
    what is rewritten before the fork is not copied after it."""
    data = SOME_TURN
    # Nothing is read from there; it must only be open.
    actor = Lean(Packets(2, 1, 16), "")
    actor.function = lambda state, history: "LEFT"
    # Nothing is closed, limited or ended: these only look at a number.
    props = _libc.isalpha, _libc.isalpha, _libc.abs, _libc.isalpha
    some = [1, 2, 3]
    for number in range(40):
        view = View(["a", "b", "c", "d"])
        state = view.state(data)
        seed_all(call_seed(number, 1))
        actor.live(props, state, view.history, b"=" + data[4:8])
        random.choice(some)
        random.randint(1, 6)
        random.random()
        random.shuffle(some)
