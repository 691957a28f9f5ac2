"""The session with a host that got this process from the zygote (see `zygote.py`). It uses packets.

The bot is loaded once and then plays many games. If the bot's memory lasts for a game, each game is played by a fork of
this process, so that no game leaves anything for the next one; this process itself never runs a move. If it lasts for a
match, a fork plays each match, and makes the bot's object. If forks would share something (`match_isolation.py`), or
the sandbox allows no fork, this process plays one match itself and ends with it. (If the memory lasts for a call:
`stateless_session.py`.)

A fork talks to the host directly, so that the host can measure it. Its parent reports how it ended, unless it ended
normally.
"""

from __future__ import annotations

import _thread
import ctypes
import gc
import json
import os
import resource
import select
import sys
from typing import Any, Dict, Optional, Tuple

from . import PROTOCOL, sandbox_enter
from .errors import LoadError, fault_of
from .game_isolation import NEVER_SHARED, LoadedFiles
from .games import has_python_api, lifetime
from .games.base import Message, Shim
from .loading import Target
from .match_isolation import LoadWatch
from .packet_channel import HEADER, MATCH_OVER, TURN, PacketChannel
from .process_cleanup import exit_description
from .seeding import preload_numpy, seed_all
from .session import Session
from .streams import flush
from .tinyjson import dumps

# Kept under names of this module: a bot may replace the originals.
_fork, _exit, _waitpid = os.fork, os._exit, os.waitpid
_write, _set_blocking = os.write, os.set_blocking
_thread_count = _thread._count
# Not `os.fork`: it prepares for threads first, and the fork copies every page that this touches.
_libc_fork = ctypes.PyDLL(None).fork
_setrlimit = resource.setrlimit
_header = HEADER.unpack_from
_loads = json.loads

DONE_EXIT_CODE = 77
"""Exit code of a fork that has done its work."""
NO_GAME_TEXT = "in an earlier turn of this game"
HELLO_PREFIX, START_PREFIX, END_PREFIX = b'{"type":"hello","id":1,', b'{"type":"start",', b'{"type":"end",'
"""The first bytes of the host's messages around a game."""
WARM_UP_ROUNDS = 20


def play(request: Dict[str, Any], request_socket: int, answer_socket: int, turn_pipe: int = -1) -> int:
    """Plays the bot of a request to the zygote. Returns the exit code."""
    packets = PacketChannel(request_socket, answer_socket, turn_pipe=turn_pipe)
    session = ForkedSession(packets, str(request["game"]), Target.parse(str(request["target"])))
    session.without = tuple(request.get("without") or ())
    code = session.run()
    flush()
    return code


def fork_process() -> int:
    """Forks. Returns 0 in the fork, and the fork's process id in the parent."""
    child = -1 if _thread_count() else _libc_fork()
    # With threads, or after an error: `os.fork` raises an exception that names the error.
    return child if child >= 0 else _fork()


def forbid_new_processes() -> None:
    """Forbids this process to start threads and processes."""
    _setrlimit(resource.RLIMIT_NPROC, (0, 0))


class ForkedSession(Session):
    """The session of one bot with one host, from hello to bye."""

    def __init__(self, packets: PacketChannel, game: str, target: Target) -> None:
        super().__init__(packets, game, target)  # type: ignore[arg-type]  # only its `send` is used
        self.packets = packets
        self.playing = False
        """Whether this process is the fork for a game."""
        self.started = False
        """Whether the fork's game has started."""
        self.hello_reply = b""
        """The reply to the next hello, of a loaded bot that plays its games in forks."""
        self.without: Tuple[str, ...] = ()
        """Defences that are off, which only tests ask for."""
        self.loaded_files: Optional[LoadedFiles] = None
        self.in_match = False
        """Whether this process plays a match: the fork for it, or the process that has loaded the bot."""
        self.is_match_fork = False
        self.forks_matches = False
        self.idle_poll = select.poll()
        """Polls the pipe and the socket between games."""

    def run(self) -> int:
        """Answers messages until the host says bye or closes the connection."""
        packets = self.packets
        while True:
            count = self.receive()
            if count == 0:
                return 0
            if packets.buffer[0] == TURN:
                self.reject_turn()
                continue
            message = _loads(packets.view[:count].tobytes())
            kind = message.get("type")
            shim = self.shim
            if kind == "bye":
                last_words = self.match_over(message)
                if last_words:
                    packets.send({**last_words, "id": 0})
                if self.is_match_fork:
                    flush()
                    _exit(DONE_EXIT_CODE)
                return 0
            if kind == "hello" and self.plays_matches() and not self.in_match:
                reply = self.start_match(message)
                if reply is None:
                    continue
                packets.send({**reply, "id": message.get("id")})
                if "error" in reply:
                    return 2
                continue
            if kind == "start" and shim is not None and shim.lifetime == "game":
                if (self.started or not self.playing) and not self.fork_game():
                    continue
                self.started = True
            if kind == "turn" and (self.needs_game_fork() or (self.plays_matches() and not self.in_match)):
                packets.send({"id": message.get("id"), "ended": NO_GAME_TEXT})
                continue
            reply = self.reply(message)
            packets.send({**reply, "id": message.get("id")})
            if "error" in reply:
                return 2
            if kind == "end" and self.playing:
                flush()
                _exit(DONE_EXIT_CODE)

    def receive(self) -> int:
        """Waits for a message that none of the fast paths handles. Returns its length."""
        if self.answers_turns_here():
            return self.answer_turns()
        if self.hello_reply:
            return self.between_games()
        return self.packets.receive()

    def between_games(self) -> int:
        """Forks for each game of a loaded bot. Returns the length of the first message that is neither hello nor start;
        in a fork, of the first message that no fast path handles. After a fork, each page that this process touches
        costs a microsecond, so it does almost nothing and leaves all parsing to the fork."""
        packets, hello_reply, done = self.packets, self.hello_reply, DONE_EXIT_CODE << 8
        while True:
            count = self.receive_between_games()
            if count and packets.buffer.startswith(START_PREFIX):
                self.restore_open_files()
                child = fork_process()
                if child == 0:
                    self.become_game_process()
                    return self.answer_turns() if self.start_fast(count) else count
                status = _waitpid(child, 0)[1]
                if status != done:
                    self.report_if_failed(status, None)
            elif count and packets.buffer.startswith(HELLO_PREFIX):
                # A loaded bot needs nothing from hello: the turns contain everything.
                _write(packets.answers, hello_reply)
            else:
                return count

    def receive_between_games(self) -> int:
        """Waits for a message while no fork plays. The host sends at most a turn through the pipe, to a fork that ended
        before its game did. Anything else in the pipe was written by a fork; it is discarded, because the next fork
        must not read it."""
        packets = self.packets
        while True:
            # The pipe was registered first, so it comes first.
            if self.idle_poll.poll()[0][0] != packets.turn_pipe:
                return packets.receive()
            count = packets.read_turn(packets.buffer)
            if not count or packets.buffer[0] == TURN:
                return count
            packets.buffer[:count] = bytes(count)

    def restore_open_files(self) -> None:
        """Makes all descriptors blocking again, and restores the bot's own files. Their state is shared by all
        processes, and the last game may have changed it."""
        packets = self.packets
        if self.loaded_files is not None:
            self.loaded_files.restore()
        for number in (0, 1, packets.requests, packets.answers, packets.turn_pipe):
            try:
                _set_blocking(number, True)
            except OSError:  # the bot has closed its copy
                pass

    def start_fast(self, count: int) -> bool:
        """Starts the fork's game without a JSON parser if the message has the exact form that the host writes. A fork
        copies every page of memory that it touches."""
        reply = self.handle_start_text(bytes(self.packets.view[:count]))
        if not reply:
            return False
        self.started = True
        _write(self.packets.answers, reply)
        return True

    def handle_start_text(self, text: bytes) -> bytes:
        """Does what `start` does and returns the reply. Returns nothing, and does nothing, if the message has another
        form."""
        words = text.split(b'"')
        if len(words) != 13 or words[5] != b"id" or words[9] != b"seed" or not words[11].isdigit():
            return b""
        self.seed_game(int(words[11]))
        return b'{"id":' + words[6][1:-1] + b"}"

    def end_fast(self, count: int) -> None:
        """Ends this fork after its game, if the message has the exact form that the host writes."""
        reply = self.reply_to_end_text(bytes(self.packets.view[:count]))
        if reply:
            _write(self.packets.answers, reply)
            flush()
            _exit(DONE_EXIT_CODE)

    @staticmethod
    def reply_to_end_text(text: bytes) -> bytes:
        """The reply to the end of a game. Empty if the message has another form than the host's."""
        words = text.split(b'"')
        return b'{"id"' + words[6] if len(words) == 7 and words[5] == b"id" else b""

    def fork_game(self) -> bool:
        """Forks for a game. Returns true in the fork, and false in the parent when the game has ended."""
        self.restore_open_files()
        child = fork_process()
        if child == 0:
            self.become_game_process()
            return True
        status = _waitpid(child, 0)[1]
        self.report_if_failed(status, None)
        return False

    def become_game_process(self) -> None:
        """Makes this process the fork for a game."""
        if self.shim is not None and self.shim.single_threaded:
            forbid_new_processes()
        if self.loaded_files is not None:
            self.loaded_files.enter_game()
        self.playing = True
        self.started = False

    def plays_matches(self) -> bool:
        """Whether the memory of the game's bots lasts for a match."""
        return has_python_api(self.game) and lifetime(self.game) == "match"

    def start_match(self, message: Message) -> Optional[Message]:
        """Loads the bot, if that is not done yet, and forks for a match. Returns the reply to hello in the process that
        plays the match, and nothing in the process that has loaded the bot, when the match is over."""
        try:
            if self.shim is None:
                self.load_for_matches()
            shim = self.shim
            assert shim is not None
            if self.forks_matches and not self.fork_match():
                return None
            self.in_match = True
            self.seed_game(self.seed(message))
            about = shim.begin_match(message)
        except LoadError as error:
            print(error, file=sys.stderr)
            return {"error": error.to_json()}
        return {"protocol": PROTOCOL, **{name: text for name, text in about.items() if text}}

    def load_for_matches(self) -> None:
        """Executes the bot's file. The generators are seeded with a constant: the bot is loaded for many matches."""
        preload_numpy(self.target.path)
        seed_all(0)
        shim = self.make_shim(self.game)
        watch = LoadWatch(os.path.dirname(shim.locate()))
        shim.load_class()
        self.shim = shim
        gc.collect()
        gc.freeze()
        self.forks_matches = "matches" not in self.without and watch.can_fork()

    def fork_match(self) -> bool:
        """Forks for a match. Returns true in the process that plays it, and false in the other one when the match is
        over."""
        self.restore_open_files()
        try:
            # Not `fork_process`: the bot may start threads and processes in its match, so Python must know of the fork.
            child = _fork()
        except OSError:  # the sandbox allows no other process: the match is played here
            self.forks_matches = False
            return True
        if child == 0:
            self.is_match_fork = True
            return True
        status = _waitpid(child, 0)[1]
        if status == DONE_EXIT_CODE << 8:
            _write(self.packets.answers, MATCH_OVER)
        else:
            self.report_if_failed(status, None)
        return False

    def answers_turns_here(self) -> bool:
        """Whether this process answers turns itself."""
        if self.shim is not None and self.shim.lifetime == "match":
            return self.in_match
        return self.shim is not None and not self.needs_game_fork()

    def needs_game_fork(self) -> bool:
        """Whether turns must be answered by a fork for the game, and this process is not one. (A fork can end before
        its game does.) A move here would change the bot for all later games."""
        return self.shim is not None and self.shim.lifetime == "game" and not self.playing

    def report_if_failed(self, status: int, number: Optional[int]) -> None:
        """Tells the host how a fork ended, unless it ended normally."""
        if status != DONE_EXIT_CODE << 8:
            self.packets.send({"id": number or 0, "ended": exit_description(status)})

    def hello(self, message: Message) -> Message:
        if self.shim is not None:
            self.shim.on_hello(message)
            return dict(self.about)
        files = self.forbid_sharing()
        self.about = super().hello(message)
        if self.shim is not None and "error" not in self.about:
            if self.shim.lifetime == "game":
                if "games" not in self.without:
                    files.seal()
                    self.loaded_files = files
                self.warm_up(self.shim)
                for number in (self.packets.turn_pipe, self.packets.requests):
                    self.idle_poll.register(number, select.POLLIN)
                self.hello_reply = dumps({**self.about, "id": 1}).encode("ascii")
            # All objects so far are shared with every fork; the garbage collector need not visit them again.
            gc.collect()
            gc.freeze()
        return self.about

    def forbid_sharing(self) -> LoadedFiles:
        """Before the bot is loaded: forbids what games would share. Returns the files that are open."""
        if has_python_api(self.game) and lifetime(self.game) == "game" and "filter" not in self.without:
            sandbox_enter.forbid_calls(NEVER_SHARED)
        return LoadedFiles()

    def warm_up(self, shim: Shim) -> None:
        """Runs the host's part of a game a few times before the first game. What Python and NumPy set up or rewrite at
        the first use is then not copied in every fork. Runs none of the bot's code."""
        try:
            for _ in range(WARM_UP_ROUNDS):
                self.handle_start_text(b'{"type":"start","id":2,"number":1,"seed":"1"}')
                shim.warm_up(self.packets)
                self.reply_to_end_text(b'{"type":"end","id":3}')
        except BaseException:  # the bot may have replaced anything; its games will show it
            pass
        shim.start({})

    def answer_between_games(self, count: int) -> bool:
        """Ends a game of a match, or starts the next one, without a JSON parser, if the message has the exact form that
        the host writes. Returns false, and does nothing, if it has not."""
        packets, shim = self.packets, self.shim
        text = bytes(packets.view[:count])
        if shim is not None and text.startswith(START_PREFIX):
            reply = self.handle_start_text(text)
            if reply:
                shim.start({})
                _write(packets.answers, reply)
            return bool(reply)
        reply = self.reply_to_end_text(text) if text.startswith(END_PREFIX) else b""
        if shim is None or not reply:
            return False
        fault = shim.game_over({})
        if fault:
            packets.send({**fault, **_loads(reply)})
        else:
            _write(packets.answers, reply)
        return True

    def reject_turn(self) -> None:
        """Rejects a turn in the game's short form that this process must not answer."""
        packets, shim = self.packets, self.shim
        number = _header(packets.buffer)[0]
        if shim is None:
            return
        packets.send({"id": number, "ended": NO_GAME_TEXT})
        # A fork may have written it, and the next fork must not read it.
        packets.buffer[:] = bytes(len(packets.buffer))

    def answer_turns(self) -> int:
        """Answers turns in the game's short form until another message comes. Returns its length."""
        packets, shim = self.packets, self.shim
        assert shim is not None
        # This loop runs thousands of times in a game, so all attributes are looked up before it.
        packed, answer, following = shim.packed, packets.answer, packets.receive_after_turn
        if type(shim).turns is not Shim.turns:
            following = lambda: shim.turns(packets)
        count = packets.receive()
        while True:
            while count and packets.buffer[0] == TURN:
                number = _header(packets.buffer)[0]
                try:
                    text = packed(packets)
                except BaseException as error:  # also sys.exit and KeyboardInterrupt: the bot raised them
                    packets.send({"id": number, **fault_of(error, shim.root)})
                else:
                    answer(number, text)
                count = following()
            if not self.in_match or not self.answer_between_games(count):
                break
            count = packets.receive()
        if self.playing and packets.buffer.startswith(END_PREFIX):
            self.end_fast(count)
        return count
