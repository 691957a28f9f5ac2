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
import resource
import sys

import _signal

from . import PROTOCOL, enter
from .packages import Module, lay
from .packets import AGAIN, HEADER, TURN, Packets, plain
from .remains import end_children, how_it_ended, open_descriptors, shared_memory, threads
from .seeding import derive, seed_all, warm_numpy
from .streams import write_at_once
from .tinyjson import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List

    Message = Dict[str, Any]

# Kept by name: a bot may replace them where it finds them.
_exit, _waitpid, _waitid, _close, _write = os._exit, os.waitpid, os.waitid, os.close, os.write
_setrlimit, _NPROC, _PID, _ENDED = resource.setrlimit, resource.RLIMIT_NPROC, os.P_PID, os.WEXITED | os.WNOWAIT
_fcntl, _GETFL, _SETFL = fcntl.fcntl, fcntl.F_GETFL, fcntl.F_SETFL
_header = HEADER.unpack_from
_NOTHING = (0, 0)
# Python's own `os.fork` first sees to much that matters to threads, and to a process that lives on.
_fork = ctypes.PyDLL(None).fork

DONE = 77
"""The exit code of a fork that has done what it was for."""
PLATFORMS = ("CENTER", "NW", "NE", "SW", "SE")
"""In the order of the competition's document: a bot that takes the first of several equals depends on it."""
SIDES = ("NORTH", "EAST", "SOUTH", "WEST")
MOVES = ("LEFT", "RIGHT", "CENTER", "NONE")
ALLOWED = ("LEFT", "RIGHT", "CENTER")


def call_seed(game: int, turn: int) -> int:
    """Chance for one call: decided by the bot's seed, the game and the turn, by nothing that happened before."""
    return game + turn * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF


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


def distinct(names: List[str], seats: int) -> List[str]:
    """Bot ids in seat order, all different: they are keys of dictionaries."""
    names = [*names, *[f"bot_{n}" for n in range(len(names), seats)]][:seats]
    ids: List[str] = []
    for seat, name in enumerate(names):
        number = seat + 1
        while name in ids or (name != names[seat] and name in names):
            name = f"{names[seat]} ({number})"
            number += 1
        ids.append(name)
    return ids


class View:
    """What a bot is called with, from turns as the host packs them: this turn's number, the seat, this turn's deal
    (scores of `PLATFORMS`, sides by number); then a row for each turn before, with its deal, moves and awards. Of a
    game that goes on, only what is new is read."""

    def __init__(self, names: List[str]) -> None:
        self.names = distinct(names, len(SIDES))
        self.history: List[Message] = []

    def state(self, data: Any) -> Message:
        """The state; the history is in `history` then."""
        turn = data[12]
        history = self.history
        if len(history) >= turn:
            del history[:]
        for number in range(len(history), turn - 1):
            row = data[23 + 17 * number : 40 + 17 * number]
            moves = [MOVES[n] for n in row[9:13]]
            history.append(past(self.names, number + 1, row[0:5], [SIDES[n] for n in row[5:9]], moves, row[13:17]))
        return state(self.names, data[13], turn, data[14:19], [SIDES[n] for n in data[19:23]])


def ready_answers(data: Any) -> Dict[str, bytes]:
    """The packet for each answer to a turn."""
    head = b"=" + data[4:8]
    return {"LEFT": head + b"LEFT", "RIGHT": head + b"RIGHT", "CENTER": head + b"CENTER"}


def play(order: Message, asked: int, answers: int) -> int:
    """Plays the bot of an order. Returns the exit code."""
    kind = Audited if os.environ.get("AGON_STATELESS") == "audited" else Lean
    return kind(Packets(asked, answers), str(order["target"])).run()


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
        self.leaves = False
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
            reply: Message = {}
            if kind == "hello":
                reply = self.hello(message)
            elif kind == "start":
                self.game = derive(self.base, derive(message.get("seed", "")))
                self.view = View(self.names)
            elif kind == "end":
                reply = self.end()
            packets.send({**reply, "id": message.get("id")})
            if "error" in reply:
                return 2
            if self.leaves:
                return 0

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
        rehearse()
        gc.collect()
        # What exists now is shared with every fork; the collector need not look at it again, nor run in a short call.
        gc.freeze()
        gc.set_threshold(20000, 10, 10)
        enter.give_back_memory()

    def end(self) -> Message:
        """The game is over."""
        return {}

    def turn(self) -> None:
        """One call, in a fork."""
        packets = self.packets
        data = packets.buffer
        state = self.view.state(data)
        seed_all(call_seed(self.game, data[12]))
        if self.call:
            _waitpid(self.call, 0)
        answers = ready_answers(data)
        # All forks share it: a mark that one left there would be seen by the next.
        _fcntl(2, _SETFL, self.flags)
        function, history, asked, out = self.function, self.view.history, packets.asked, packets.answers
        child = _fork()
        if child == 0:
            # Every page touched here is a page copied: as little as can be, and by short ways.
            code = 1
            try:
                # Not the next question: that is for another. And nothing is started that could outlive the answer.
                _close(asked)
                _setrlimit(_NPROC, _NOTHING)
                try:
                    move = function(state, history)
                except BaseException as error:  # sys.exit, KeyboardInterrupt: all the bot's doing
                    packets.send({**fault(error, self.root), "id": _header(data)[0]})
                else:
                    if type(move) is str and move in answers:
                        _write(out, answers[move])
                    else:
                        packets.send({**odd(move, self.root), "id": _header(data)[0]})
                code = DONE
            finally:
                _exit(code)
        self.watch(child, _header(data)[0])

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
        self.watch(child, int(message["id"]))

    def watch(self, child: int, number: int) -> None:
        """Waits for a fork, and speaks up if it ended in a way it should not."""
        self.call = child
        end = _waitid(_PID, child, _ENDED)
        if end is None or end.si_status != DONE or end.si_code != os.CLD_EXITED:
            status = _waitpid(child, 0)[1]
            self.call = 0
            self.packets.send({"id": number, "ended": how_it_ended(status)})
        else:
            # Only now can another call be made: until a fork has ended, its end may wait for a processor.
            _write(self.packets.answers, AGAIN)

    def call_and_send(self, number: int, state: Message, history: List[Message]) -> str:
        """The call itself. Returns what it gave, as text."""
        try:
            move = self.function(state, history)
        except BaseException as error:  # sys.exit, KeyboardInterrupt: all the bot's doing
            result = fault(error, self.root)
        else:
            if type(move) is str and move in ALLOWED:
                _write(self.packets.answers, plain(number, move))
                return move
            result = odd(move, self.root)
        self.packets.send({**result, "id": number})
        return dumps(result)


class Audited(Lean):
    """All calls in this process; when the game is over, all of them again, in another order, in a fork of the process
    as it was after loading. The answers must be the same."""

    PATIENCE = 24000
    """Milliseconds for an audit: as long as the calls may take, and a little more."""

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
                    write_sized(replies, self.again(loads(order.decode())))
                finally:
                    _exit(DONE)
            status = _waitpid(child, 0)[1]
            if status != DONE << 8:
                write_sized(replies, [how_it_ended(status)])

    def again(self, order: List[Any]) -> List[str]:
        """What these calls give."""
        self.names, self.game, calls = order
        # Nobody hears it.
        self.packets.answers = os.open(os.devnull, os.O_WRONLY)
        return [self.one(bytes.fromhex(data)) for data in calls]

    def one(self, data: Any) -> str:
        """One call, in this process. What the bot gets is its own: it may change it."""
        view = View(self.names)
        state = view.state(data)
        seed_all(call_seed(self.game, data[12]))
        return self.call_and_send(_header(data)[0], state, view.history)

    def turn(self) -> None:
        data = self.packets.buffer
        kept = bytes(data[: 23 + 17 * (data[12] - 1)])
        self.gave.append(self.one(kept))
        self.asked.append(kept)

    def end(self) -> Message:
        calls, gave = self.asked, self.gave
        self.asked, self.gave = [], []
        if not calls:
            return {}
        order = sorted(range(len(calls)), key=lambda n: (self.game ^ n * 0x9E3779B97F4A7C15) * 0xBF58476D1CE4E5B9 >> 40 & 0xFFFF)
        if len(order) > 1 and order == sorted(order):
            order.reverse()
        write_sized(self.down, [self.names, self.game, [calls[n].hex() for n in order]])
        again = self.hear()
        if len(again) == 1:
            # Not an answer but how the audit ended.
            again *= len(order)
        for n, second in sorted(zip(order, again + ["nothing"] * len(order))):
            if gave[n] != second:
                return {"audit": {"same": False, "turn": calls[n][12], "first": gave[n], "again": second}}
        return {"audit": {"same": True, "calls": len(calls)}}

    def hear(self) -> List[str]:
        """What the keeper says."""
        import select

        poller = select.poll()
        poller.register(self.up, select.POLLIN)
        if not poller.poll(self.PATIENCE):
            # What it says later would be about another game: this process ends, and the next game has a new one.
            self.leaves = True
            return ["no answer in time"]
        said = loads(read_all(self.up, int.from_bytes(read_all(self.up, 4), "little")).decode())
        return [str(text) for text in said]


def write_sized(descriptor: int, value: Any) -> None:
    """Writes a value with its length before it."""
    data = dumps(value).encode()
    _write(descriptor, len(data).to_bytes(4, "little") + data)


def read_all(descriptor: int, size: int) -> bytes:
    """So many bytes."""
    data = b""
    while len(data) < size:
        chunk = os.read(descriptor, size - len(data))
        if not chunk:
            break
        data += chunk
    return data


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


def check(target: str, hello: Message) -> Message:
    """Loads the bot in a fork that imports what it likes: what is wrong with it, or how to load it here."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            from .stateless import examine

            data = examine(target, hello)
            while data:
                data = data[os.write(writer, data) :]
        finally:
            _exit(0)
    os.close(writer)
    data = b""
    while True:
        chunk = os.read(reader, 1 << 16)
        if not chunk:
            break
        data += chunk
    os.close(reader)
    _, status = os.waitpid(child, 0)
    end_children()
    try:
        found = loads(data.decode())
        return found if type(found) is dict else {"error": {"what": "says what no bot would say"}}
    except ValueError:
        return {"error": {"what": f"ends while it is loaded: {how_it_ended(status)}", "file": "Submission.py"}}


def execute(file: str, name: str) -> Any:
    """Executes a bot's file as a module of this name."""
    with open(file, "rb") as source:
        code = compile(source.read(), file, "exec", dont_inherit=True)
    module = Module(name)
    module.__file__ = file
    module.__package__ = name.rpartition(".")[0]  # type: ignore[assignment]
    sys.modules[name] = module
    sys.path.insert(0, os.path.dirname(file))
    sys.modules.setdefault(os.path.basename(file)[: -len(".py")], module)
    sys.argv[:] = [file]
    exec(code, module.__dict__)
    return module


def settle(known: List[int]) -> None:
    """After the bot's file has run: nothing it opened stays, nothing it started goes on."""
    # What it opened leads nowhere now. Not just closed: the number would be given to something else, which the bot
    # would take for its own.
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in set(open_descriptors()) - {*known, nowhere}:
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
    sys.settrace(None)
    sys.setprofile(None)
    # A handler would run here, between calls.
    for number in range(1, _signal.NSIG):
        try:
            if callable(_signal.getsignal(number)):
                _signal.signal(number, _signal.SIG_DFL)
        except (OSError, ValueError):
            pass
    end_children()
    hint = "a bot must be stateless: start nothing outside get_action"
    if threads() > 1:
        raise_load_error("starts a thread while it is loaded", hint)
    if shared_memory():
        raise_load_error("makes shared memory while it is loaded", hint)


def raise_load_error(what: str, hint: str) -> None:
    """A bot that cannot be seated."""
    from .errors import LoadError

    raise LoadError(what, "Submission.py", None, hint)


def rehearse() -> None:
    """Runs our own part of a call a few times: the interpreter rewrites code it runs often, and what is rewritten
    before the fork is not copied after it."""
    deal = bytes([1, 2, 3, 4, 5, 0, 1, 2, 3])
    data = bytes(12) + bytes([3, 0]) + deal + (deal + bytes([0, 1, 2, 3, 0, 0, 1, 2])) * 2
    for number in range(40):
        view = View(["a", "b", "c", "d"])
        view.state(data)
        seed_all(call_seed(number, 1))
        ready_answers(data)
