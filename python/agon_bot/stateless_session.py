"""The session of a stateless bot in a child of the zygote. Runs each call in a fork.

Four kinds of processes take part:

| process | does | runs code of the bot | ends |
|---|---|---|---|
| supervisor | talks to the host before and after games | never | with the session |
| template (`template.py`) | has loaded the bot, is frozen | while it is loaded, never again | with the session |
| game | a copy of the template: receives the turns of one game and forks | if the bot has replaced the host's functions | with the game |
| call | a fork of the game's process, for one turn | yes | with its answer |

Nothing connects two games: the template does not change, and a game's sockets are new. A call cannot reach the process
that it was forked from (`call_filter.py`), and it answers on a socket that the host opened for it.

A fork costs what the process has: memory to share, and pages to copy when the fork or its parent touches them. So this
module and its imports avoid most of Python's library. Work that is rarely needed (checking a bot, the text of a fault)
is done in forks that import what they need. See `forked_session.py` for the messages and `stateless.py` for what
stateless means.
"""

from __future__ import annotations

import ctypes
import fcntl
import gc
import os
import random
import resource
import select
import struct

import _signal
import _socket

from . import PROTOCOL, sandbox_enter
from .games import call_arguments, game_part
from .load_stateless import check_loadable, close_background_work, execute
from .packet_channel import CALL_ENDED, HEADER, MAX_MESSAGE_BYTES, PARTS, TURN, answer_packet
from .proc_folder import ProcFolder, kill_until_none
from .process_cleanup import exit_description, open_descriptors
from .seeding import derive, preload_numpy, seed_all
from .streams import MIN_PROTOCOL_DESCRIPTOR, disable_output_buffering
from .template import Template, TemplateError
from .tinyjson import dumps, loads
from .virtual_packages import install

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Tuple

    Message = Dict[str, Any]

# Kept under names of this module: a bot may replace the originals.
_exit, _waitpid, _waitid, _close, _write, _read = os._exit, os.waitpid, os.waitid, os.close, os.write, os.read
_setrlimit, _NPROC, _PID, _ENDED = resource.setrlimit, resource.RLIMIT_NPROC, os.P_PID, os.WEXITED | os.WNOWAIT
_fcntl, _GETFL, _SETFL, _EXITED = fcntl.fcntl, fcntl.F_GETFL, fcntl.F_SETFL, os.CLD_EXITED
_DUPFD, _SOCKET, _RIGHTS = fcntl.F_DUPFD_CLOEXEC, _socket.SOL_SOCKET, _socket.SCM_RIGHTS
_header, _dup2 = HEADER.unpack_from, os.dup2
_one_descriptor, _two_descriptors = struct.Struct("=i").unpack_from, struct.Struct("=ii").unpack_from
_GAME_HEAD = struct.Struct("<QQ")
"""The start of a game for its process: the message's id and the game's seed. The names follow."""
_game_head, _GAME_HEAD_BYTES = _GAME_HEAD.unpack_from, _GAME_HEAD.size
_NO_PROCESSES = (0, 0)
# Called in the C library directly. Python's `fork` prepares for threads first, and all of Python's functions let other
# threads run meanwhile. Without threads this only touches pages for nothing.
_libc = ctypes.PyDLL(None)
_fork = getattr(_libc, "_Fork", _libc.fork)
_NATIVE = _libc.close, _libc.setrlimit, _libc.write, _libc._exit
_ZERO_LIMIT = (ctypes.c_ulong * 2)()
"""A resource limit of zero."""

IGNORED = (_signal.SIGPIPE, _signal.SIGXFSZ)
"""Ignored as in every Python process: a write then fails with an exception."""
DONE_EXIT_CODE = 77
"""Exit code of a fork that has done its work."""
MAX_PACKET_BYTES = 64 << 10
"""Size of the longest packet. Forks share every page of the buffer, so it is not larger."""
MAX_NAMES_BYTES = 16 << 10
MAX_DESCRIPTORS = 4
GAME_END_TIMEOUT_MS = 5000


def call_seed(game: int, turn: int) -> int:
    """The seed of one call. It depends on the bot's seed, the game and the turn, and on nothing that happened
    before."""
    return game + turn * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF


def make_template(request: Message, proc: int) -> Template:
    """Makes the template of a bot in the sandbox that the supervisor is in already, and stricter. `proc` is an open
    `/proc`."""
    game = str(request["game"])
    for number in range(1, _signal.NSIG):
        try:
            # Nothing is left of a signal to the supervisor, unless it ends it.
            _signal.signal(number, _signal.SIG_DFL if number == _signal.SIGCHLD else _signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    sandbox_enter.adopt_orphans()
    serve = lambda control: TemplateSession(request, call_arguments(game), control).run()
    return Template(ProcFolder(proc), lambda: restrict(request), serve)


def play(request: Message, requests: int, answers: int, template: Template) -> int:
    """Plays the bot of a request to the zygote. Returns the exit code."""
    return Supervisor(request, requests, answers, template).run()


def restrict(request: Message) -> None:
    """Applies what a stateless bot may not do, before its file is opened."""
    for number in range(1, _signal.NSIG):
        try:
            _signal.signal(number, _signal.SIG_IGN if number in IGNORED else _signal.SIG_DFL)
        except (OSError, ValueError):
            pass
    sandbox_enter.restrict_call(request)


class Receiver:
    """Receives messages and the descriptors that come with them."""

    def __init__(self, descriptor: int) -> None:
        self.socket = _socket.socket(fileno=descriptor)
        self.buffer = bytearray(MAX_PACKET_BYTES)
        self.buffers = [self.buffer]
        self.view = memoryview(self.buffer)
        self.room = _socket.CMSG_LEN(4 * MAX_DESCRIPTORS)
        self.read = self.socket.recvmsg_into

    def receive(self) -> Tuple[Any, List[int]]:
        """The next message and its descriptors. The message is empty when the host has closed the connection."""
        count, more, _, _ = self.read(self.buffers, self.room)
        given: List[int] = []
        for level, kind, content in more:
            if level == _SOCKET and kind == _RIGHTS:
                given += memoryview(content)[: len(content) // 4 * 4].cast("i").tolist()
        return self.message(count), given

    def message(self, count: int) -> Any:
        """The message whose first packet is in the buffer."""
        if count and self.buffer[0] == PARTS:
            return self.receive_parts(int.from_bytes(self.view[4:8], "little"))
        return self.view[:count]

    def receive_parts(self, length: int) -> bytes:
        """A message that is too long for a packet."""
        parts: List[bytes] = []
        have = 0
        while have < min(length, MAX_MESSAGE_BYTES):
            part = self.socket.recv(MAX_PACKET_BYTES)
            if not part:
                return b""
            parts.append(part)
            have += len(part)
        return b"".join(parts)


class Supervisor:
    """The session of one bot with one host, from hello to bye, except for the turns. Runs no code of the bot."""

    def __init__(self, request: Message, requests: int, answers: int, template: Template) -> None:
        self.request = request
        self.game = str(request["game"])
        self.receiver = Receiver(requests)
        self.answers = answers
        self.template = template
        self.loaded = False
        self.names = b""
        self.base_seed = 0
        self.game_pidfd = -1
        """The process of the current game."""
        self.log_flags = 0

    def run(self) -> int:
        """Answers messages until the host says bye or closes the connection."""
        while True:
            data, given = self.receiver.receive()
            if not data:
                return 0
            message = loads(bytes(data).decode())
            kind = message.get("type")
            if kind == "bye":
                return 0
            reply = self.reply(kind, message, given)
            for descriptor in given:
                _close(descriptor)
            if reply is not None:
                _write(self.answers, dumps({**reply, "id": message.get("id")}).encode("ascii"))
                if "error" in reply:
                    return 2

    def reply(self, kind: Any, message: Message, given: List[int]) -> Optional[Message]:
        """The reply to a message. The process of a game replies to its start."""
        if kind == "hello":
            return self.hello(message)
        if kind == "start" and self.loaded and len(given) >= 2:
            self.start(message, given)
            return None
        if kind == "end":
            self.end_game()
        return {}

    def hello(self, message: Message) -> Message:
        """Loads the bot, unless an earlier game has loaded it."""
        if not self.loaded:
            error = self.load(message)
            if error is not None:
                return {"error": error}
        names = [str(name).replace("\0", " ") for name in message.get("names") or []]
        # Made different from each other here, so that no game has to.
        names = call_arguments(self.game)(names).names
        self.names = "\0".join(names).encode("utf-8", "surrogatepass")[:MAX_NAMES_BYTES]
        self.base_seed = derive(message.get("seed", ""))
        return {"protocol": PROTOCOL}

    def load(self, message: Message) -> Optional[Message]:
        """Has the template load the bot, after a trial in another process. Returns the error, if there is one."""
        template = self.template
        checked = check_loadable(
            self.game,
            str(self.request["target"]),
            message,
            lambda: restrict(self.request),
            lambda: kill_until_none(template.children),
        )
        if "error" in checked:
            error: Message = checked["error"]
            return error
        source, entry = call_arguments(self.game).SOURCE_FILE, game_part(self.game, "ENTRY_FUNCTION")
        try:
            reply = loads(template.exchange(dumps(checked).encode()).decode() or "null")
            if type(reply) is not dict or "error" in reply:
                return reply["error"] if reply else {"what": "ends while it is loaded", "file": source}
            template.freeze()
        except (TemplateError, ValueError, OSError) as failure:
            return {"what": f"ends while it is loaded: {failure}", "file": source}
        problem = template.problem()
        if problem is not None and "sweep" not in (self.request.get("without") or ()):
            return {"what": problem, "file": source, "hint": f"a bot must be stateless: start nothing outside {entry}"}
        self.loaded = True
        self.log_flags = _fcntl(2, _GETFL)
        # No process of the bot can send anything to this one.
        template.control.shutdown(_socket.SHUT_RD)
        return None

    def start(self, message: Message, given: List[int]) -> None:
        """Starts the process of a game, with its own sockets."""
        self.end_game()
        template = self.template
        pid = template.copy()
        self.game_pidfd = os.pidfd_open(pid)
        seed = derive(self.base_seed, derive(message.get("seed", "")))
        told = _GAME_HEAD.pack(int(message.get("id") or 0), seed) + self.names
        rights = b"".join([descriptor.to_bytes(4, "little") for descriptor in given])
        template.control.sendmsg([told], [(_SOCKET, _RIGHTS, rights)])

    def end_game(self) -> None:
        """Kills the process of the last game and everything that it has started, and undoes what it may have left."""
        if self.game_pidfd < 0:
            return
        try:
            _signal.pidfd_send_signal(self.game_pidfd, _signal.SIGKILL)
        except OSError:
            pass
        ended = select.poll()
        ended.register(self.game_pidfd, select.POLLIN)
        ended.poll(GAME_END_TIMEOUT_MS)
        _close(self.game_pidfd)
        self.game_pidfd = -1
        kill_until_none(self.template.children)
        # All games share these two open files, and nothing else that lasts.
        theirs = self.template.theirs
        if "flags" not in (self.request.get("without") or ()):
            _fcntl(2, _SETFL, self.log_flags)
            theirs.setblocking(True)
        while _libc.recv(theirs.fileno(), _ONE_BYTE, 1, _socket.MSG_DONTWAIT) > 0:
            pass


_ONE_BYTE = ctypes.create_string_buffer(1)


class TemplateSession:
    """What the template does until it is frozen, and what its copies do: one game each."""

    def __init__(self, request: Message, arguments_class: Any, control: int) -> None:
        self.request = request
        self.control = control
        self.arguments_class = arguments_class
        self.direct_answers: Dict[str, bytes] = arguments_class.ANSWERS
        self.root = ""
        self.function: Any = None
        self.names: List[str] = []
        self.arguments = arguments_class([])
        self.game_seed = 0
        self.stderr_flags = 0
        self.moves_descriptors = False
        """Whether the bot had files open while it was loaded: their numbers are not used for other files."""
        self.reports = control + 1
        self.receiver: Any = None
        self.last_child = 0
        """The fork that gave the last answer. It stays a zombie until the next call, so that the host can measure
        it."""

    def run(self) -> None:
        """Loads the bot, and then is frozen where it forks. Only copies return from there."""
        try:
            plan = loads(_read(self.control, 1 << 16).decode())
            try:
                self.load(plan)
                reply: Message = {}
            except BaseException as error:  # the trial had no error
                from .errors import load_error

                reply = {"error": load_error(error, plan["root"], plan["file"]).to_json()}
            _write(self.control, dumps(reply).encode("ascii"))
            _read(self.control, 1)
            # The kernel removes ended copies: this process will not look.
            _signal.signal(_signal.SIGCHLD, _signal.SIG_IGN)
            if _fork() == 0:
                _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
                self.play_game()
        finally:
            _exit(3)

    def load(self, plan: Message) -> None:
        """Executes the bot's file. A trial has done this before, so errors are unlikely."""
        disable_output_buffering()
        # A bot gets no input, and a closed descriptor cannot carry a flag from one call to the next.
        _close(0)
        known = open_descriptors()
        preload_numpy(plan["file"])
        seed_all(0)
        install(plan["packages"])
        self.root = plan["root"]
        entry = game_part(str(self.request["game"]), "ENTRY_FUNCTION")
        self.function = execute(plan["file"], plan["name"]).__dict__[entry]
        self.moves_descriptors = close_background_work(known)
        self.stderr_flags = _fcntl(2, _GETFL)
        self.receiver = Receiver(self.control)
        make_ready(self.arguments_class)

    def play_game(self) -> None:
        """In a copy: plays one game. The supervisor kills it at the end of the game."""
        receiver = self.receiver
        read, buffers, data, room = receiver.read, receiver.buffers, receiver.buffer, receiver.room
        count, more, _, _ = read(buffers, room)
        requests, reports = _two_descriptors(more[0][2])
        # The control socket's number becomes that of the game's requests: the same object reads both.
        _dup2(requests, self.control)
        _dup2(reports, self.reports)
        _close(requests)
        _close(reports)
        number, self.game_seed = _game_head(data)
        self.names = data[_GAME_HEAD_BYTES:count].decode("utf-8", "surrogatepass").split("\0")
        self.arguments = self.arguments_class(self.names)
        _write(self.reports, b'{"id":%d}' % number)
        while True:
            # As `Receiver.receive`, with less: all of this happens again in each call.
            count, more, _, _ = read(buffers, room)
            if not more:
                return
            answers = _one_descriptor(more[0][2])[0]
            if self.moves_descriptors:
                low, answers = answers, _fcntl(answers, _DUPFD, MIN_PROTOCOL_DESCRIPTOR)
                _close(low)
            if data[0] == TURN:
                self.turn(data, answers)
            else:
                self.json_turn(loads(bytes(receiver.message(count)).decode()), answers)

    def turn(self, data: Any, answers: int) -> None:
        """Runs one call in a fork."""
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
            self.run_call(_NATIVE, state, history, head, answers)
        self.wait_for_call(child, answers, _header(data)[0])

    def run_call(self, native: Any, state: Message, history: List[Message], head: bytes, answers: int) -> None:
        """In the fork: runs the call and exits. A fork copies every page that it touches, so this function does as
        little as possible, calls the C library directly, and is run by the warm-up before the first fork."""
        close, limit, write, leave = native
        code = 1
        try:
            # The fork must not read the next request or report for its parent, and must not start anything that
            # outlives the answer.
            if close(self.control) == 0 and close(self.reports) == 0 and limit(_NPROC, _ZERO_LIMIT) == 0:
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
                _write(answers, dumps({**result, "id": int.from_bytes(head[1:], "little")}).encode("ascii"))
                code = DONE_EXIT_CODE
        finally:
            leave(code)

    def json_turn(self, message: Message, answers: int) -> None:
        """Runs one call of a game that is too long for the short form."""
        seen = message["observation"]
        state, history = self.arguments_class.from_observation(seen, self.names)
        seed_all(call_seed(self.game_seed, seen["turn"]))
        if self.last_child:
            _waitpid(self.last_child, 0)
        _fcntl(2, _SETFL, self.stderr_flags)
        number = int(message["id"])
        child = _fork()
        if child == 0:
            self.run_call(_NATIVE, state, history, answer_packet(number, ""), answers)
        self.wait_for_call(child, answers, number)

    def wait_for_call(self, child: int, answers: int, number: int) -> None:
        """Waits until a call has ended, and reports that."""
        _close(answers)
        end = _waitid(_PID, child, _ENDED)
        if end is None or end.si_status != DONE_EXIT_CODE or end.si_code != _EXITED:
            self.last_child = 0
            status = _waitpid(child, 0)[1]
            _write(self.reports, dumps({"id": number, "ended": exit_description(status)}).encode("ascii"))
        else:
            self.last_child = child
            # The next call can start only now: until the fork has ended, its exit may wait for a processor.
            _write(self.reports, CALL_ENDED)

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
    """Prepares the process for its first copy, when the bot is loaded."""
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
    session = TemplateSession({}, arguments_class, -1)
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
