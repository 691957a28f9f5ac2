"""The session of a stateless bot in a child of the zygote. Runs each call in a new process.

Three kinds of processes take part. The supervisor is the zygote's child: it talks to the host and never runs code of
the bot. The template has loaded the bot and is frozen (`template.py`). A call is a copy of the template. It has nothing
that an earlier call could have touched: its answer socket comes from the host with the request and is new, its log's
flags are as they were, and it has no other descriptor that still works.

A copy costs what the template has: memory to share, and pages to copy when the copy touches them. So this module and
its imports avoid most of Python's library. Work that is rarely needed (checking a bot, the text of a fault) is done in
forks that import what they need. See `forked_session.py` for the messages and `stateless.py` for what stateless means.
"""

from __future__ import annotations

import ctypes
import fcntl
import gc
import marshal
import os
import random

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
from .template import CONT, WAIT_ALL, Template, TemplateError, _ptrace
from .tinyjson import dumps, loads
from .virtual_packages import install

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Tuple

    Message = Dict[str, Any]

# Kept under names of this module: a bot may replace the originals.
_exit, _waitpid, _waitid, _close, _write, _read = os._exit, os.waitpid, os.waitid, os.close, os.write, os.read
_PID, _STOPPED, _EXITED = os.P_PID, os.WEXITED | os.WSTOPPED | os.WNOWAIT | WAIT_ALL, os.CLD_EXITED
_fcntl, _GETFL, _SETFL = fcntl.fcntl, fcntl.F_GETFL, fcntl.F_SETFL
_header, _marshal, _unmarshal = HEADER.unpack_from, marshal.dumps, marshal.loads
# Called in the C library directly. Python's `fork` prepares for threads first, and all of Python's functions let other
# threads run meanwhile. Without threads this only touches pages for nothing.
_libc = ctypes.PyDLL(None)
_fork = getattr(_libc, "_Fork", _libc.fork)
_NATIVE = _libc.recvmsg, _libc.fcntl, _libc.close, _libc.write, _libc._exit

IGNORED = (_signal.SIGPIPE, _signal.SIGXFSZ, _signal.SIGCHLD)
"""Ignored as in every Python process; SIGCHLD too, so that the kernel itself removes ended children."""
DONE_EXIT_CODE = 77
"""Exit code of a call that has done its work."""
MAX_PACKET_BYTES = 64 << 10
"""Longest packet from the host."""
CALL_BUFFER_BYTES = 16 << 10
"""Room for a request to a call: the message's id in `ID_BYTES`, then seed and arguments, written by `marshal`. Longer ones
come as a file. Copies share every page of the buffer, so it is not larger."""
ID_BYTES = 4
F_DUPFD = fcntl.F_DUPFD


def call_seed(game: int, turn: int) -> int:
    """The seed of one call. It depends on the bot's seed, the game and the turn, and on nothing that happened
    before."""
    return game + turn * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF


def play(request: Message, requests: int, answers: int, template: Template) -> int:
    """Plays the bot of a request to the zygote. Returns the exit code."""
    return Supervisor(request, requests, answers, template).run()


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
    return Template(
        ProcFolder(proc), lambda: restrict(request), lambda control: TemplateSession(game, control).run()
    )


def restrict(request: Message) -> None:
    """Applies what a stateless bot may not do, before its file is opened."""
    for number in range(1, _signal.NSIG):
        try:
            _signal.signal(number, _signal.SIG_IGN if number in IGNORED else _signal.SIG_DFL)
        except (OSError, ValueError):
            pass
    sandbox_enter.restrict_call(request)


class Supervisor:
    """The session of one bot with one host, from hello to bye. Runs no code of the bot."""

    def __init__(self, request: Message, requests: int, answers: int, template: Template) -> None:
        self.request = request
        self.game = str(request["game"])
        self.requests = _socket.socket(fileno=requests)
        self.answers = answers
        self.template = template
        self.buffer = bytearray(MAX_PACKET_BYTES)
        self.view = memoryview(self.buffer)
        self.loaded = False
        self.arguments_class = call_arguments(self.game)
        self.names: List[str] = []
        self.arguments = self.arguments_class([])
        self.base_seed = 0
        self.game_seed = 0
        self.log_flags = 0
        self.control_flags = 0
        self.their_number = -1
        self.last_call = 0
        """The call that gave the last answer. It stays a zombie until the next call, so that the host can measure
        it."""

    def run(self) -> int:
        """Answers messages until the host says bye or closes the connection."""
        while True:
            data, answer = self.receive()
            if not data:
                return 0
            if data[0] == TURN:
                state = self.arguments.state(data)
                self.call(_header(data)[0], data[12], state, self.arguments.history, answer)
                continue
            message = loads(bytes(data).decode())
            kind = message.get("type")
            if kind == "bye":
                return 0
            if kind == "turn":
                seen = message["observation"]
                arguments = self.arguments_class.from_observation(seen, self.names)
                self.call(int(message["id"]), int(seen["turn"]), *arguments, answer)
                continue
            reply = self.reply(kind, message)
            self.send({**reply, "id": message.get("id")})
            if "error" in reply:
                return 2

    def receive(self) -> Tuple[Any, int]:
        """The next message, and the answer socket that came with it, or -1. The message is empty when the host has
        closed the connection."""
        count, more, _, _ = self.requests.recvmsg_into([self.buffer], 64)
        answer = -1
        for _, _, content in more:
            answer = memoryview(content).cast("i")[0]
        if count and self.buffer[0] == PARTS:
            return self.receive_parts(int.from_bytes(self.view[4:8], "little")), answer
        return self.view[:count], answer

    def receive_parts(self, length: int) -> bytes:
        """A message that is too long for a packet."""
        data = b""
        while len(data) < min(length, MAX_MESSAGE_BYTES):
            part = self.requests.recv(MAX_PACKET_BYTES)
            if not part:
                return b""
            data += part
        return data

    def send(self, message: Message) -> None:
        """Sends a message."""
        _write(self.answers, dumps(message).encode("ascii"))

    def reply(self, kind: Any, message: Message) -> Message:
        """The reply to a message that is not a turn."""
        if kind == "hello":
            return self.hello(message)
        if kind == "start":
            self.game_seed = derive(self.base_seed, derive(message.get("seed", "")))
            self.arguments = self.arguments_class(self.names)
        return {}

    def hello(self, message: Message) -> Message:
        """Loads the bot, unless an earlier game has loaded it."""
        if not self.loaded:
            error = self.load(message)
            if error is not None:
                return {"error": error}
        self.names = [str(name) for name in message.get("names") or []]
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
        except (TemplateError, ValueError, OSError) as error:
            return {"what": f"ends while it is loaded: {error}", "file": source}
        problem = template.problem()
        if problem is not None:
            return {"what": problem, "file": source, "hint": f"a bot must be stateless: start nothing outside {entry}"}
        self.loaded = True
        self.their_number = template.theirs.fileno()
        self.log_flags, self.control_flags = _fcntl(2, _GETFL), _fcntl(self.their_number, _GETFL)
        template.control.shutdown(_socket.SHUT_RD)
        gc.collect()
        gc.freeze()
        return None

    def call(self, number: int, turn: int, state: Message, history: List[Message], answer: int) -> None:
        """Runs one call, which answers on the socket `answer`."""
        if self.last_call:
            _waitpid(self.last_call, WAIT_ALL)
            self.last_call = 0
        template = self.template
        # All calls share these two open files, and nothing else that lasts: what a call has set is undone.
        _fcntl(2, _SETFL, self.log_flags)
        _fcntl(self.their_number, _SETFL, self.control_flags)
        pid = template.copy()
        head = number.to_bytes(ID_BYTES, "little")
        arguments = _marshal((call_seed(self.game_seed, turn), state, history))
        descriptors = [answer]
        if len(arguments) > CALL_BUFFER_BYTES - ID_BYTES:
            descriptors.append(_memory_file(arguments))
            arguments = b""
        rights = b"".join([descriptor.to_bytes(4, "little") for descriptor in descriptors])
        template.control.sendmsg([head, arguments], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)])
        for descriptor in descriptors:
            _close(descriptor)
        _ptrace(CONT, pid, None, None)
        end = _waitid(_PID, pid, _STOPPED)
        while end.si_code not in _ENDS:
            # A process that is held stops at each signal. The signal is passed on.
            status = _waitpid(pid, WAIT_ALL)[1]
            _ptrace(CONT, pid, None, 0 if status >> 16 else os.WSTOPSIG(status))
            end = _waitid(_PID, pid, _STOPPED)
        self.drain(self.their_number)
        if end.si_status == DONE_EXIT_CODE and end.si_code == _EXITED:
            self.last_call = pid
            # The next call can start only now: until this one has ended, its exit may wait for a processor.
            _write(self.answers, CALL_ENDED)
        else:
            self.send({"id": number, "ended": exit_description(_waitpid(pid, WAIT_ALL)[1])})

    @staticmethod
    def drain(control: int) -> None:
        """Removes a request that the call has not read. The next call must not find it."""
        while _libc.recv(control, _ONE_BYTE, 1, _socket.MSG_DONTWAIT) > 0:
            pass


_ENDS = (os.CLD_EXITED, os.CLD_KILLED, os.CLD_DUMPED)
_ONE_BYTE = ctypes.create_string_buffer(1)


def _memory_file(text: bytes) -> int:
    """A file in memory with this content."""
    file = os.memfd_create("turn")
    while text:
        text = text[_write(file, text) :]
    os.lseek(file, 0, os.SEEK_SET)
    return file


class _Part(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


class _MessageHead(ctypes.Structure):
    """The C library's `msghdr`."""

    _fields_ = [
        *[("name", ctypes.c_void_p), ("name_length", ctypes.c_uint), ("parts", ctypes.c_void_p)],
        *[("part_count", ctypes.c_size_t), ("control", ctypes.c_void_p), ("control_length", ctypes.c_size_t)],
        ("flags", ctypes.c_int),
    ]


class TemplateSession:
    """The template's side: loads the bot, and runs a call in each copy."""

    def __init__(self, game: str, control: int) -> None:
        self.game = game
        self.control = control
        self.arguments_class = call_arguments(game)
        self.direct_answers: Dict[str, bytes] = self.arguments_class.ANSWERS
        self.root = ""
        self.function: Any = None
        self.buffer = bytearray(CALL_BUFFER_BYTES)
        self.rights = (ctypes.c_int * 16)()
        data = (ctypes.c_char * CALL_BUFFER_BYTES).from_buffer(self.buffer)
        self.part = _Part(ctypes.addressof(data), CALL_BUFFER_BYTES)
        self.head = _MessageHead(None, 0, ctypes.addressof(self.part), 1, ctypes.addressof(self.rights), 64, 0)
        self.place = ctypes.byref(self.head)
        self.view = memoryview(self.buffer)

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
            if _fork() == 0:
                self.run_call(_NATIVE)
        finally:
            _exit(3)

    def load(self, plan: Message) -> None:
        """Executes the bot's file. A trial has done this before, so errors are unlikely."""
        disable_output_buffering()
        # A bot gets no input.
        _close(0)
        known = open_descriptors()
        preload_numpy(plan["file"])
        seed_all(0)
        install(plan["packages"])
        self.root = plan["root"]
        entry = game_part(self.game, "ENTRY_FUNCTION")
        self.function = execute(plan["file"], plan["name"]).__dict__[entry]
        close_background_work(known)
        make_ready(self.arguments_class, self.game)

    def run_call(self, native: Any) -> None:
        """In the copy: receives the request, runs the call and exits. A copy pays for every page that it touches, so
        this function does as little as possible, calls the C library directly, and is run by the warm-up before the
        first copy."""
        receive, control, close, write, leave = native
        code = 1
        try:
            count = receive(self.control, self.place, 0)
            received = self.rights[4]
            # Not the number of a file that the bot had open while it was loaded.
            answers = control(received, F_DUPFD, MIN_PROTOCOL_DESCRIPTOR)
            close(received)
            view = self.view
            seed, state, history = _unmarshal(view[ID_BYTES:] if count > ID_BYTES else self.read_file(self.rights[5]))
            seed_all(seed)
            try:
                move = self.function(state, history)
            except BaseException as error:  # also sys.exit and KeyboardInterrupt: the bot raised them
                result = fault(error, self.root)
            else:
                if type(move) is str and move in self.direct_answers:
                    packet = b"=%b%b" % (view[:ID_BYTES], self.direct_answers[move])
                    if write(answers, packet, len(packet)) > 0:
                        code = DONE_EXIT_CODE
                    return
                result = self.indirect_answer(move)
            _write(answers, dumps({**result, "id": int.from_bytes(view[:ID_BYTES], "little")}).encode("ascii"))
            code = DONE_EXIT_CODE
        finally:
            leave(code)

    @staticmethod
    def read_file(file: int) -> bytes:
        """The arguments of a call, if they are too long for a packet."""
        data = b""
        while True:
            part = _read(file, 1 << 20)
            if not part:
                _close(file)
                return data
            data += part

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


def make_ready(arguments_class: Any, game: str) -> None:
    """Prepares the process for its first copy, when the bot is loaded."""
    warm_up(arguments_class, game)
    gc.collect()
    # The garbage collector need not visit the objects that exist by now, nor run in a short call.
    gc.freeze()
    gc.set_threshold(20000, 10, 10)
    sandbox_enter.trim_heap()


def warm_up(arguments_class: Any, game: str) -> None:
    """Runs the host's part of a call a few times, and the functions that bots use most. The interpreter rewrites code
    that runs often. Pages that it rewrites before the copy are not copied after it."""
    session = TemplateSession(game, 2)
    answer = next(iter(arguments_class.ANSWERS))
    session.function = lambda state, history: answer
    arguments = arguments_class(list(arguments_class.SAMPLE_NAMES))
    state = arguments.state(arguments_class.SAMPLE_TURN)
    data = bytes(ID_BYTES) + _marshal((1, state, arguments.history))
    session.buffer[: len(data)] = data
    # Instead of recvmsg, fcntl, close, write and _exit: functions that only look at a number.
    harmless = lambda *_: len(data), _libc.isalpha, _libc.isalpha, _libc.abs, _libc.isalpha
    some = [1, 2, 3]
    for _ in range(40):
        session.run_call(harmless)
        random.choice(some)
        random.randint(1, 6)
        random.random()
        random.shuffle(some)
