"""The session of a stateless bot in a child of the zygote. Runs each call in a fork.

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

from . import PROTOCOL, memory_image, sandbox_enter
from .games import call_arguments, game_part
from .load_stateless import check_loadable, execute, forbid_background_work
from .packet_channel import CALL_ENDED, HEADER, TURN, PacketChannel, answer_packet
from .process_cleanup import exit_description, open_descriptors
from .seeding import derive, preload_numpy, seed_all
from .streams import disable_output_buffering
from .tinyjson import loads
from .virtual_packages import install

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List

    Message = Dict[str, Any]

# Kept under names of this module: a bot may replace the originals.
_exit, _waitpid, _waitid, _close, _write = os._exit, os.waitpid, os.waitid, os.close, os.write
_setrlimit, _NPROC, _PID, _ENDED = resource.setrlimit, resource.RLIMIT_NPROC, os.P_PID, os.WEXITED | os.WNOWAIT
_fcntl, _GETFL, _SETFL, _EXITED = fcntl.fcntl, fcntl.F_GETFL, fcntl.F_SETFL, os.CLD_EXITED
_header = HEADER.unpack_from
_NO_PROCESSES = (0, 0)
# Called in the C library directly. Python's `fork` prepares for threads first, and all of Python's functions let other
# threads run meanwhile. Without threads this only touches pages for nothing.
_libc = ctypes.PyDLL(None)
_fork = getattr(_libc, "_Fork", _libc.fork)
_NATIVE = _libc.close, _libc.setrlimit, _libc.write, _libc._exit
_ZERO_LIMIT = (ctypes.c_ulong * 2)()
"""A resource limit of zero."""

DONE_EXIT_CODE = 77
"""Exit code of a fork that has done its work."""
INITIAL_BUFFER_BYTES = 1 << 16
"""Size of the longest packet. Forks share every page of the buffer, so it is not larger."""


def call_seed(game: int, turn: int) -> int:
    """The seed of one call. It depends on the bot's seed, the game and the turn, and on nothing that happened
    before."""
    return game + turn * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF


def play(request: Message, request_socket: int, answer_socket: int, image: Any = memory_image.NO_IMAGE) -> int:
    """Plays the bot of a request to the zygote. Returns the exit code. `image` makes its forks cheaper."""
    game, packets = str(request["game"]), PacketChannel(request_socket, answer_socket, INITIAL_BUFFER_BYTES)
    session = StatelessSession(packets, game, call_arguments(game), str(request["target"]))
    session.image = image
    return session.run()


class StatelessSession:
    """The session of one bot with one host, from hello to bye."""

    def __init__(self, packets: PacketChannel, game: str, arguments_class: Any, target: str) -> None:
        self.packets = packets
        self.game = game
        self.arguments_class = arguments_class
        self.direct_answers: Dict[str, bytes] = arguments_class.ANSWERS
        self.target = target
        self.root = target
        self.function: Any = None
        self.arguments = arguments_class([])
        self.base_seed = 0
        self.game_seed = 0
        self.stderr_flags = 0
        self.image = memory_image.NO_IMAGE
        self.last_child = 0
        """The fork that gave the last answer. It stays a zombie until the next call, so that the host can measure
        it."""

    def run(self) -> int:
        """Answers messages until the host says bye or closes the connection."""
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
                self.json_turn(message)
                continue
            reply = self.reply(kind, message)
            packets.send({**reply, "id": message.get("id")})
            if "error" in reply:
                return 2

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
            checked = check_loadable(self.game, self.target, message)
            if "error" in checked:
                return checked
            try:
                self.load(checked)
            except BaseException as error:  # the trial in the fork had no error
                from .errors import load_error

                return {"error": load_error(error, checked["root"], checked["file"]).to_json()}
        self.names = [str(name) for name in message.get("names") or []]
        self.base_seed = derive(message.get("seed", ""))
        return {"protocol": PROTOCOL}

    def load(self, plan: Message) -> None:
        """Executes the bot's file. A fork has tried this before, so errors are unlikely."""
        disable_output_buffering()
        # A bot gets no input, and a closed descriptor cannot carry a flag from one call to the next.
        _close(0)
        sandbox_enter.forbid_writing()
        sandbox_enter.adopt_orphans()
        known = open_descriptors()
        preload_numpy(plan["file"])
        seed_all(0)
        install(plan["packages"])
        self.root = plan["root"]
        entry = game_part(self.game, "ENTRY_FUNCTION")
        self.function = execute(plan["file"], plan["name"]).__dict__[entry]
        forbid_background_work(known, self.arguments_class.SOURCE_FILE, entry, self.image[0])
        self.stderr_flags = _fcntl(2, _GETFL)
        make_ready(self.arguments_class)
        memory_image.install(self.image)

    def start(self, message: Message) -> None:
        """A game starts."""
        self.game_seed = derive(self.base_seed, derive(message.get("seed", "")))
        self.arguments = self.arguments_class(self.names)

    def end(self) -> Message:
        """The game has ended."""
        return {}

    def turn(self) -> None:
        """Runs one call in a fork."""
        packets = self.packets
        data = packets.buffer
        arguments = self.arguments
        state = arguments.state(data)
        seed_all(call_seed(self.game_seed, data[12]))
        if self.last_child:
            _waitpid(self.last_child, 0)
        # All forks share the flags of this descriptor: the next call could see what one call has set.
        _fcntl(2, _SETFL, self.stderr_flags)
        history, head = arguments.history, b"=" + data[4:8]
        child = _fork()
        if child == 0:
            self.run_call(_NATIVE, state, history, head)
        self.last_child = child
        end = _waitid(_PID, child, _ENDED)
        if end is None or end.si_status != DONE_EXIT_CODE or end.si_code != _EXITED:
            self.report_failed_call(_header(data)[0])
        else:
            # The next call can start only now: until the fork has ended, its exit may wait for a processor.
            _write(packets.answers, CALL_ENDED)

    def run_call(self, native: Any, state: Message, history: List[Message], head: bytes) -> None:
        """In the fork: runs the call and exits. A fork copies every page that it touches, so this function does as
        little as possible, calls the C library directly, and is run by the warm-up before the first fork."""
        close, limit, write, leave = native
        code = 1
        try:
            # The fork must not read the next request, and must not start anything that outlives the answer.
            if close(self.packets.requests) == 0 and limit(_NPROC, _ZERO_LIMIT) == 0:
                try:
                    move = self.function(state, history)
                except BaseException as error:  # also sys.exit and KeyboardInterrupt: the bot raised them
                    result = fault(error, self.root)
                else:
                    if type(move) is str and move in self.direct_answers:
                        packet = head + self.direct_answers[move]
                        if write(self.packets.answers, packet, len(packet)) > 0:
                            code = DONE_EXIT_CODE
                        return
                    result = self.indirect_answer(move)
                self.packets.send({**result, "id": int.from_bytes(head[1:], "little")})
                code = DONE_EXIT_CODE
        finally:
            leave(code)

    def json_turn(self, message: Message) -> None:
        """Runs one call of a game that is too long for the short form."""
        seen = message["observation"]
        state, history = self.arguments_class.from_observation(seen, self.names)
        seed_all(call_seed(self.game_seed, seen["turn"]))
        if self.last_child:
            _waitpid(self.last_child, 0)
        child = _fork()
        if child == 0:
            code = 1
            try:
                _close(self.packets.requests)
                _setrlimit(_NPROC, _NO_PROCESSES)
                self.call_and_reply(int(message["id"]), state, history)
                code = DONE_EXIT_CODE
            finally:
                _exit(code)
        self.last_child = child
        end = _waitid(_PID, child, _ENDED)
        if end is None or end.si_status != DONE_EXIT_CODE or end.si_code != _EXITED:
            self.report_failed_call(int(message["id"]))
        else:
            _write(self.packets.answers, CALL_ENDED)

    def report_failed_call(self, number: int) -> None:
        """Reports how a fork ended that did not end normally."""
        status = _waitpid(self.last_child, 0)[1]
        self.last_child = 0
        self.packets.send({"id": number, "ended": exit_description(status)})

    def call_and_reply(self, number: int, state: Message, history: List[Message]) -> None:
        """Runs the call and sends its answer."""
        try:
            move = self.function(state, history)
        except BaseException as error:  # also sys.exit and KeyboardInterrupt: the bot raised them
            result = fault(error, self.root)
        else:
            if type(move) is str and move in self.direct_answers:
                _write(self.packets.answers, answer_packet(number, move))
                return
            result = self.indirect_answer(move)
        self.packets.send({**result, "id": number})

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
    # Nothing is read from these descriptors; they must only be open.
    session = StatelessSession(PacketChannel(2, 1, 16), "", arguments_class, "")
    answer = next(iter(arguments_class.ANSWERS))
    session.function = lambda state, history: answer
    # Instead of close, setrlimit, write and _exit: functions that only look at a number.
    harmless = _libc.isalpha, _libc.isalpha, _libc.abs, _libc.isalpha
    some = [1, 2, 3]
    for number in range(40):
        arguments = arguments_class(list(arguments_class.SAMPLE_NAMES))
        state = arguments.state(data)
        seed_all(call_seed(number, 1))
        session.run_call(harmless, state, arguments.history, b"=" + data[4:8])
        random.choice(some)
        random.randint(1, 6)
        random.random()
        random.shuffle(some)


def learn_memory_use(argument_classes: List[Any]) -> None:
    """Has the memory image learn which memory the calls of these games need (`memory_image.py`)."""

    def prepare() -> None:
        for arguments_class in argument_classes:
            make_ready(arguments_class)

    def sample_calls() -> None:
        for arguments_class in argument_classes:
            run_sample_calls(arguments_class)

    memory_image.learn(prepare, sample_calls)


def run_sample_calls(arguments_class: Any) -> None:
    """Runs calls as in a game, in forks."""
    requests, host_requests = os.pipe()
    host_answers, answers = os.pipe()
    session = StatelessSession(PacketChannel(requests, answers, INITIAL_BUFFER_BYTES), "", arguments_class, "")
    moves = list(arguments_class.ANSWERS)
    session.function = lambda state, history: random.choice(moves)
    session.names = list(arguments_class.SAMPLE_NAMES)
    session.stderr_flags = _fcntl(2, _GETFL)
    for _ in range(3):
        session.start({"seed": "1"})
        _write(host_requests, arguments_class.SAMPLE_TURN)
        session.packets.receive()
        session.turn()
    warm_up(arguments_class)
    for descriptor in (requests, host_requests, host_answers, answers):
        _close(descriptor)
