"""The session of a stateless bot in a child of the zygote. Runs each call in a fork.

A call starts with nothing that an earlier one could have touched. It answers on a socket that the host has opened for
it and that came with the request. Of the process that forked it, it has no descriptor but the log, no memory, and no
way to reach it (`call_filter.py`).

A fork costs what the process has: memory to share, and pages to copy when the fork or this process touches them. So
this module and its imports avoid most of Python's library. Work that is rarely needed (checking a bot, the text of a
fault) is done in forks that import what they need. See `forked_session.py` for the messages and `stateless.py` for what
stateless means.
"""

from __future__ import annotations

import ctypes
import fcntl
import gc
import os
import random
import resource
import struct
import sys
from _functools import partial

import _socket

from . import PROTOCOL, memory_image, sandbox_enter
from .games import call_arguments, game_part
from .load_stateless import check_loadable, execute, forbid_background_work, reject_shared_memory
from .packet_channel import CALL_ENDED, HEADER, MAX_MESSAGE_BYTES, PARTS, TURN, answer_packet
from .process_cleanup import OwnFigures, exit_description, open_descriptors
from .seeding import derive, preload_numpy, seed_all
from .streams import MIN_PROTOCOL_DESCRIPTOR, disable_output_buffering
from .tinyjson import dumps, loads
from .virtual_packages import install

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List

    Message = Dict[str, Any]

# Kept under names of this module: a bot may replace the originals.
_exit, _waitpid, _waitid, _close, _write = os._exit, os.waitpid, os.waitid, os.close, os.write
_setrlimit, _NPROC, _PID, _ENDED = resource.setrlimit, resource.RLIMIT_NPROC, os.P_PID, os.WEXITED | os.WNOWAIT
_fcntl, _GETFL, _SETFL, _EXITED = fcntl.fcntl, fcntl.F_GETFL, fcntl.F_SETFL, os.CLD_EXITED
_header, _descriptor, _DUPFD = HEADER.unpack_from, struct.Struct("=i").unpack_from, fcntl.F_DUPFD_CLOEXEC
# Called in the C library directly. Python's `fork` prepares for threads first, and all of Python's functions let other
# threads run meanwhile. Without threads this only touches pages for nothing.
_libc = ctypes.PyDLL(None)
_fork = getattr(_libc, "_Fork", _libc.fork)
_NATIVE = _libc.close, _libc.setrlimit, _libc.write, _libc._exit
_ZERO_LIMIT = (ctypes.c_ulong * 2)()
"""A resource limit of zero."""

DONE_EXIT_CODE = 77
"""Exit code of a fork that has done its work."""
MAX_PACKET_BYTES = 1 << 16
"""Size of the longest packet. Forks share every page of the buffer, so it is not larger."""


def call_seed(game: int, turn: int) -> int:
    """The seed of one call. It depends on the bot's seed, the game and the turn, and on nothing that happened
    before."""
    return game + turn * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF


def play(request: Message, request_socket: int, answer_socket: int, image: Any = memory_image.NO_IMAGE) -> int:
    """Plays the bot of a request to the zygote. Returns the exit code. `image` makes its forks cheaper."""
    session = StatelessSession(request, call_arguments(str(request["game"])), request_socket, answer_socket)
    session.image = image
    return session.run()


def restrict(request: Message) -> None:
    """Applies what a stateless bot may not do, before its file is opened."""
    if "shared" in (request.get("without") or ()):
        # Only in tests: a mapping that all calls share, as an earlier version of the host had.
        import mmap

        sys.shared_mapping = mmap.mmap(-1, mmap.PAGESIZE)  # type: ignore[attr-defined]
    sandbox_enter.restrict_call(request)


class StatelessSession:
    """The session of one bot with one host, from hello to bye."""

    def __init__(self, request: Message, arguments_class: Any, requests: int, answers: int) -> None:
        self.request = request
        self.requests = requests
        self.answers = answers
        """Where this process answers. No call has this descriptor."""
        self.socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET, 0, requests)
        self.buffer = bytearray(MAX_PACKET_BYTES)
        self.game = str(request["game"])
        self.arguments_class = arguments_class
        self.direct_answers: Dict[str, bytes] = arguments_class.ANSWERS
        self.target = str(request["target"])
        self.root = self.target
        self.function: Any = None
        self.arguments = arguments_class([])
        self.base_seed = 0
        self.game_seed = 0
        self.names: List[str] = []
        self.stderr_flags = 0
        self.restores_flags = True
        # Only in tests: sockets that all calls share.
        self.shared = _socket.socketpair() if "fresh" in (request.get("without") or ()) else None
        self.image = memory_image.NO_IMAGE
        self.last_child = 0
        """The fork that gave the last answer. It stays a zombie until the next call, so that the host can measure
        it."""

    def run(self) -> int:
        """Answers messages until the host says bye or closes the connection."""
        read, data, buffers, room = self.socket.recvmsg_into, self.buffer, [self.buffer], _socket.CMSG_LEN(4)
        while True:
            count, more, _, _ = read(buffers, room)
            if count == 0:
                return 0
            if more:
                self.turn(count, self.answer_socket(_descriptor(more[0][2])[0]))
                continue
            message = loads(self.message(count).decode())
            kind = message.get("type")
            if kind == "bye":
                return 0
            reply = self.reply(kind, message)
            self.send({**reply, "id": message.get("id")})
            if "error" in reply:
                return 2

    def message(self, count: int) -> bytes:
        """The message whose first packet is in the buffer."""
        if self.buffer[0] != PARTS:
            return bytes(self.buffer[:count])
        parts: List[bytes] = []
        missing = min(int.from_bytes(self.buffer[4:8], "little"), MAX_MESSAGE_BYTES)
        while missing > 0:
            part = self.socket.recv(MAX_PACKET_BYTES)
            if not part:
                break
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)

    def answer_socket(self, descriptor: int) -> int:
        """The socket for the answer to a turn, with a number that the bot does not take for its input or for a file that
        it had open while it was loaded."""
        number = _fcntl(descriptor, _DUPFD, MIN_PROTOCOL_DESCRIPTOR)
        _close(descriptor)
        return number

    def send(self, message: Message) -> None:
        """Sends a message."""
        _write(self.answers, dumps(message).encode("ascii"))

    def reply(self, kind: Any, message: Message) -> Message:
        """The reply to a message that is not a turn."""
        if kind == "hello":
            return self.hello(message)
        if kind == "start":
            self.start(message)
        elif kind == "end":
            return self.end()
        return {}

    def hello(self, message: Message) -> Message:
        """Loads the bot, unless an earlier game has loaded it."""
        if self.function is None:
            sandbox_enter.adopt_orphans()
            figures = OwnFigures()
            sweep = "sweep" not in (self.request.get("without") or ())
            checked = check_loadable(
                self.game, self.target, message, figures, partial(restrict, self.request), sweep
            )
            if "error" in checked:
                return checked
            try:
                restrict(self.request)
                self.load(checked, figures)
            except BaseException as error:  # the trial in the fork had no error
                from .errors import load_error

                return {"error": load_error(error, checked["root"], checked["file"]).to_json()}
        self.names = [str(name) for name in message.get("names") or []]
        self.base_seed = derive(message.get("seed", ""))
        return {"protocol": PROTOCOL}

    def load(self, plan: Message, figures: OwnFigures) -> None:
        """Executes the bot's file. A fork has tried this before, so errors are unlikely."""
        disable_output_buffering()
        # A bot gets no input, and a closed descriptor cannot carry a flag from one call to the next.
        _close(0)
        known = open_descriptors()
        preload_numpy(plan["file"])
        seed_all(0)
        install(plan["packages"])
        self.root = plan["root"]
        entry = game_part(self.game, "ENTRY_FUNCTION")
        self.function = execute(plan["file"], plan["name"]).__dict__[entry]
        without = self.request.get("without") or ()
        sweep = "sweep" not in without
        source_file = self.arguments_class.SOURCE_FILE
        opened = forbid_background_work(known, source_file, entry, figures, sweep)
        # Even a closed file that stays open as `/dev/null` has flags that all calls share.
        for descriptor in opened if "stale" not in without else ():
            _close(descriptor)
        self.restores_flags = "flags" not in without
        self.stderr_flags = _fcntl(2, _GETFL)
        make_ready(self.arguments_class)
        memory_image.install(self.image, lambda: figures.read("maps") or b"")
        # Only now: while the bot is loaded, its process has the writable mapping of the image.
        if sweep:
            self.in_fork(lambda: reject_shared_memory(source_file, entry, figures))
        figures.close()

    @staticmethod
    def in_fork(work: Callable[[], None]) -> None:
        """Runs a function in a fork. Raises an error if it does. This process keeps only the pages that it needs for its
        own work: every other one would cost each fork for a call something."""
        child = _fork()
        if child == 0:
            code = 1
            try:
                work()
                code = DONE_EXIT_CODE
            finally:
                _NATIVE[3](code)
        if _waitpid(child, 0)[1] != DONE_EXIT_CODE << 8:
            work()
            raise RuntimeError("a fork of the loaded bot failed")

    def start(self, message: Message) -> None:
        """A game starts."""
        self.game_seed = derive(self.base_seed, derive(message.get("seed", "")))
        self.arguments = self.arguments_class(self.names)

    def end(self) -> Message:
        """The game has ended."""
        return {}

    def turn(self, count: int, answers: int) -> None:
        """Runs one call in a fork, which answers on the socket `answers`."""
        data = self.buffer
        if data[0] == TURN:
            arguments = self.arguments
            state = arguments.state(data)
            history, head = arguments.history, b"=" + data[4:8]
            seed_all(call_seed(self.game_seed, data[12]))
        else:
            # A game that is too long for the short form.
            message = loads(self.message(count).decode())
            seen = message["observation"]
            state, history = self.arguments_class.from_observation(seen, self.names)
            head = answer_packet(int(message["id"]), "")
            seed_all(call_seed(self.game_seed, seen["turn"]))
        if self.last_child:
            _waitpid(self.last_child, 0)
        # All forks share the flags of this descriptor: the next call could see what one call has set.
        if self.restores_flags:
            _fcntl(2, _SETFL, self.stderr_flags)
        child = _fork()
        if child == 0:
            self.run_call(_NATIVE, state, history, head, answers)
        self.last_child = child
        _close(answers)
        end = _waitid(_PID, child, _ENDED)
        if end is None or end.si_status != DONE_EXIT_CODE or end.si_code != _EXITED:
            self.report_failed_call(int.from_bytes(head[1:5], "little"))
        else:
            # The next call can start only now: until the fork has ended, its exit may wait for a processor.
            _write(self.answers, CALL_ENDED)

    def run_call(self, native: Any, state: Message, history: List[Message], head: bytes, answers: int) -> None:
        """In the fork: runs the call and exits. A fork copies every page that it touches, so this function does as
        little as possible, calls the C library directly, and is run by the warm-up before the first fork."""
        close, limit, write, leave = native
        code = 1
        try:
            # The fork must not read the next request, must not report for its parent, and must not start anything that
            # outlives the answer.
            if close(self.requests) == 0 and close(self.answers) == 0 and limit(_NPROC, _ZERO_LIMIT) == 0:
                try:
                    move = self.function(state, history)
                except BaseException as error:  # also sys.exit and KeyboardInterrupt: the bot raised them
                    result = fault(error, self.root)
                else:
                    if type(move) is str and move in self.direct_answers:
                        packet = head + self.direct_answers[move]
                        if write(answers, packet, len(packet)) > 0:
                            code = DONE_EXIT_CODE
                        return
                    result = self.indirect_answer(move)
                _write(answers, dumps({**result, "id": int.from_bytes(head[1:5], "little")}).encode("ascii"))
                code = DONE_EXIT_CODE
        finally:
            leave(code)

    def report_failed_call(self, number: int) -> None:
        """Reports how a fork ended that did not end normally."""
        status = _waitpid(self.last_child, 0)[1]
        self.last_child = 0
        self.send({"id": number, "ended": exit_description(status)})

    def indirect_answer(self, move: Any) -> Message:
        """The result of a call that returned something else than one of the game's `ANSWERS`."""
        try:
            return {"answer": self.arguments_class.read_answer(move)}
        except BaseException as error:
            return fault(error, self.root)


def fault(error: BaseException, root: str) -> Message:
    """The fault that is recorded for an exception."""
    from .errors import AnswerFault, crash_text

    if isinstance(error, AnswerFault):
        return {"fault": error.fault, "says": error.message}
    return {"fault": "crash", "says": crash_text(error, root)}


def make_ready(arguments_class: Any) -> None:
    """Prepares the process for its first fork, when the bot is loaded."""
    warm_up(arguments_class)
    gc.collect()
    # All objects so far are shared with every fork; the garbage collector need not visit them again, nor run in a short
    # call.
    gc.freeze()
    gc.set_threshold(20000, 10, 10)
    sandbox_enter.trim_heap()


def warm_up(arguments_class: Any) -> None:
    """Runs the host's part of a call a few times, and the functions that bots use most. The interpreter rewrites code
    that runs often. Pages that it rewrites before the fork are not copied after it."""
    data = arguments_class.SAMPLE_TURN
    # Not from its constructor: this one has no socket.
    session = StatelessSession.__new__(StatelessSession)
    session.requests = session.answers = 1
    session.direct_answers = arguments_class.ANSWERS
    answer = next(iter(arguments_class.ANSWERS))
    session.function = lambda state, history: answer
    # Instead of close, setrlimit, write and _exit: functions that only look at a number.
    harmless = _libc.isalpha, _libc.isalpha, _libc.abs, _libc.isalpha
    some = [1, 2, 3]
    for number in range(40):
        arguments = arguments_class(list(arguments_class.SAMPLE_NAMES))
        state = arguments.state(data)
        seed_all(call_seed(number, 1))
        session.run_call(harmless, state, arguments.history, b"=" + data[4:8], 1)
        random.choice(some)
        random.randint(1, 6)
        random.random()
        random.shuffle(some)


def learn_memory_use(argument_classes: List[Any]) -> None:
    """Has the memory image learn which memory the calls of these games need (`memory_image.py`)."""
    samples: List[SampleCalls] = []

    def prepare() -> None:
        for arguments_class in argument_classes:
            make_ready(arguments_class)
        samples.extend(map(SampleCalls, argument_classes))

    def sample_calls() -> None:
        for calls in samples:
            calls.run()

    memory_image.learn(prepare, sample_calls)


class SampleCalls:
    """Calls as in a game, in forks. All that is done only once is done before they run."""

    def __init__(self, arguments_class: Any) -> None:
        self.arguments_class = arguments_class
        self.answers, writer = os.pipe()
        host, requests = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        self.session = StatelessSession({"game": "", "target": ""}, arguments_class, requests.detach(), writer)
        moves = list(arguments_class.ANSWERS)
        self.session.function = lambda state, history: random.choice(moves)
        self.session.names = list(arguments_class.SAMPLE_NAMES)
        self.session.stderr_flags = _fcntl(2, _GETFL)
        host.send(dumps({"type": "start", "id": 2, "seed": "1"}).encode())
        for _ in range(3):
            rights = _socket.SOL_SOCKET, _socket.SCM_RIGHTS, struct.pack("i", writer)
            host.sendmsg([arguments_class.SAMPLE_TURN], [rights])
        host.send(dumps({"type": "end", "id": 3}).encode())
        host.close()

    def run(self) -> None:
        """Does what a session does when its bot is loaded, and runs the functions that bots use most."""
        self.session.in_fork(_libc.getpid)
        self.session.run()
        warm_up(self.arguments_class)
