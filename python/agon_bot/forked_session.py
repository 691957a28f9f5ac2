"""The conversation with a host that forked this process (see `zygote.py`), by packets.

The bot is loaded once and then plays many games. That none of them can leave anything behind for the next is seen to
by forks of this process, which itself never runs a move: a fork for each game where a bot's memory lasts for a game.
Where it lasts for a match this process plays itself, and ends with the match. (Where it lasts for a call: `stateless_session.py`.)

A fork speaks to the host itself, so that the host can measure it; how it ended is told by its parent, if it ended in
any other way than it should.
"""

from __future__ import annotations

import _thread
import ctypes
import gc
import json
import os
import resource
import select
from typing import Any, Dict, Optional

from .streams import flush
from .errors import fault_of
from .process_cleanup import exit_description
from .games.base import Message, Shim
from .loading import Target
from .packet_channel import HEADER, TURN, PacketChannel
from .session import Session
from .tinyjson import dumps

# Kept by name: a bot may replace them where it finds them.
_fork, _exit, _waitpid = os.fork, os._exit, os.waitpid
_write, _set_blocking = os.write, os.set_blocking
_thread_count = _thread._count
# Python's own `os.fork` first sees to much that matters to threads only, and every page that it touches is copied.
_libc_fork = ctypes.PyDLL(None).fork
_setrlimit = resource.setrlimit
_header = HEADER.unpack_from
_loads = json.loads

DONE_EXIT_CODE = 77
"""The exit code of a fork that has done what it was for."""
NO_GAME_TEXT = "its process for this game is gone"
HELLO_PREFIX, START_PREFIX, END_PREFIX = b'{"type":"hello","id":1,', b'{"type":"start",', b'{"type":"end",'
"""How the host's messages around a game begin."""
WARM_UP_ROUNDS = 20


def play(request: Dict[str, Any], request_socket: int, answer_socket: int, turn_pipe: int = -1) -> int:
    """Plays the bot of an request. Returns the exit code."""
    packets = PacketChannel(request_socket, answer_socket, turn_pipe=turn_pipe)
    session = ForkedSession(packets, str(request["game"]), Target.parse(str(request["target"])))
    code = session.run()
    flush()
    return code


def fork_process() -> int:
    """Forks: 0 in the fork, here its number."""
    child = -1 if _thread_count() else _libc_fork()
    # With threads, or to have it say what is wrong.
    return child if child >= 0 else _fork()


def forbid_new_processes() -> None:
    """From now on this process can start neither threads nor processes."""
    _setrlimit(resource.RLIMIT_NPROC, (0, 0))


class ForkedSession(Session):
    """One bot, one host, from hello to the end."""

    def __init__(self, packets: PacketChannel, game: str, target: Target) -> None:
        super().__init__(packets, game, target)  # type: ignore[arg-type]  # only its `send` is used
        self.packets = packets
        self.playing = False
        """This is the fork for a game."""
        self.started = False
        """The fork's game has begun."""
        self.hello_reply = b""
        """What a loaded bot that plays its games in forks replies to the next hello."""
        self.idle_poll = select.poll()
        """Between games: for what comes by the pipe, and by the socket."""

    def run(self) -> int:
        """Talks until the host says bye or hangs up."""
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
                if shim is not None:
                    shim.match_over(message)
                return 0
            if kind == "start" and shim is not None and shim.lifetime == "game":
                if (self.started or not self.playing) and not self.fork_game():
                    continue
                self.started = True
            if kind == "turn" and self.needs_game_fork():
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
        """Waits for a message that is not dealt with in one of the short ways, and says how long it is."""
        if self.answers_turns_here():
            return self.answer_turns()
        if self.hello_reply:
            return self.between_games()
        return self.packets.receive()

    def between_games(self) -> int:
        """A loaded bot between games: forks for each, and says how long the first message is that is neither hello nor
        start; or, in a fork, that is dealt with in none of the short ways. After a fork every page that is touched costs a microsecond here, so that this
        process does next to nothing, and leaves all reading to the fork."""
        packets, hello_reply, done = self.packets, self.hello_reply, DONE_EXIT_CODE << 8
        while True:
            count = self.receive_between_games()
            if count and packets.buffer.startswith(START_PREFIX):
                self.restore_blocking_mode()
                child = fork_process()
                if child == 0:
                    self.become_game_process()
                    return self.answer_turns() if self.start_fast(count) else count
                status = _waitpid(child, 0)[1]
                if status != done:
                    self.report_if_failed(status, None)
            elif count and packets.buffer.startswith(HELLO_PREFIX):
                # What is new to a loaded bot in it stands in the turns, too.
                _write(packets.answers, hello_reply)
            else:
                return count

    def receive_between_games(self) -> int:
        """Waits for a message while no fork plays. By the pipe comes a turn at most, for a fork that has ended before its
        game. Whatever else is there was left by a fork, and the next one must not find it."""
        packets = self.packets
        while True:
            # What came by the pipe is named first.
            if self.idle_poll.poll()[0][0] != packets.turn_pipe:
                return packets.receive()
            count = packets.read_turn(packets.buffer)
            if not count or packets.buffer[0] == TURN:
                return count
            packets.buffer[:count] = bytes(count)

    def restore_blocking_mode(self) -> None:
        """Whether a descriptor waits is the same for all who have it: the last game may have changed that."""
        packets = self.packets
        for number in (0, 1, packets.requests, packets.answers, packets.turn_pipe):
            try:
                _set_blocking(number, True)
            except OSError:  # the bot has closed it, for itself
                pass

    def start_fast(self, count: int) -> bool:
        """Begins the fork's game if its start is written as the host writes it, without all that reading JSON takes:
        each page of memory that is touched in a fork is copied first."""
        reply = self.handle_start_text(bytes(self.packets.view[:count]))
        if not reply:
            return False
        self.started = True
        _write(self.packets.answers, reply)
        return True

    def handle_start_text(self, text: bytes) -> bytes:
        """What `start` does, and the reply to it; nothing of it if this is not how the host writes it."""
        words = text.split(b'"')
        if len(words) != 13 or words[5] != b"id" or words[9] != b"seed" or not words[11].isdigit():
            return b""
        self.seed_game(int(words[11]))
        return b'{"id":' + words[6][1:-1] + b"}"

    def end_fast(self, count: int) -> None:
        """Ends this fork with its game, if that is told as the host tells it: there is nothing to say to it."""
        reply = self.reply_to_end_text(bytes(self.packets.view[:count]))
        if reply:
            _write(self.packets.answers, reply)
            flush()
            _exit(DONE_EXIT_CODE)

    @staticmethod
    def reply_to_end_text(text: bytes) -> bytes:
        """The reply to the end of a game, or nothing if this is not how the host writes it."""
        words = text.split(b'"')
        return b'{"id"' + words[6] if len(words) == 7 and words[5] == b"id" else b""

    def fork_game(self) -> bool:
        """Forks for a game. True in the fork; false here, when the game is over."""
        self.restore_blocking_mode()
        child = fork_process()
        if child == 0:
            self.become_game_process()
            return True
        status = _waitpid(child, 0)[1]
        self.report_if_failed(status, None)
        return False

    def become_game_process(self) -> None:
        """This is the fork for a game from now on."""
        if self.shim is not None and self.shim.single_threaded:
            forbid_new_processes()
        self.playing = True
        self.started = False

    def answers_turns_here(self) -> bool:
        """Whether turns are answered by this very process."""
        return self.shim is not None and not self.needs_game_fork()

    def needs_game_fork(self) -> bool:
        """Whether a move here would be there in every later game: a fork can end, as if its game were over, before it
        is."""
        return self.shim is not None and self.shim.lifetime == "game" and not self.playing

    def report_if_failed(self, status: int, number: Optional[int]) -> None:
        """Tells the host if a fork ended in a way it should not."""
        if status != DONE_EXIT_CODE << 8:
            self.packets.send({"id": number or 0, "ended": exit_description(status)})

    def hello(self, message: Message) -> Message:
        if self.shim is not None:
            self.shim.on_hello(message)
            return dict(self.about)
        self.about = super().hello(message)
        if self.shim is not None and "error" not in self.about:
            if self.shim.lifetime == "game":
                self.warm_up(self.shim)
                for number in (self.packets.turn_pipe, self.packets.requests):
                    self.idle_poll.register(number, select.POLLIN)
                self.hello_reply = dumps({**self.about, "id": 1}).encode("ascii")
            # What exists now is shared with every fork; the collector need not look at it again.
            gc.collect()
            gc.freeze()
        return self.about

    def warm_up(self, shim: Shim) -> None:
        """Does our own part of a game a few times before there is one. What Python and NumPy rewrite or set up when a
        thing is done for the first time need not be copied in every fork then. None of the bot's code is run."""
        try:
            for _ in range(WARM_UP_ROUNDS):
                self.handle_start_text(b'{"type":"start","id":2,"number":1,"seed":"1"}')
                shim.warm_up(self.packets)
                self.reply_to_end_text(b'{"type":"end","id":3}')
        except BaseException:  # whatever the bot has put in something's place: its games will tell
            pass
        shim.start({})

    def reject_turn(self) -> None:
        """A turn in the game's short form that is not answered by this process."""
        packets, shim = self.packets, self.shim
        number = _header(packets.buffer)[0]
        if shim is None:
            return
        packets.send({"id": number, "ended": NO_GAME_TEXT})
        # It may have been written by a fork, and the next one must not find it.
        packets.buffer[:] = bytes(len(packets.buffer))

    def answer_turns(self) -> int:
        """Answers turns in the game's short form until something else comes, and says how long that is."""
        packets, shim = self.packets, self.shim
        assert shim is not None
        # What is done here is done thousands of times in a game: what stays the same is looked up before.
        packed, answer, following = shim.packed, packets.answer, packets.receive_after_turn
        if type(shim).turns is not Shim.turns:
            following = lambda: shim.turns(packets)
        count = packets.receive()
        while count and packets.buffer[0] == TURN:
            number = _header(packets.buffer)[0]
            try:
                text = packed(packets)
            except BaseException as error:  # sys.exit, KeyboardInterrupt: all the bot's doing
                packets.send({"id": number, **fault_of(error, shim.root)})
            else:
                answer(number, text)
            count = following()
        if self.playing and packets.buffer.startswith(END_PREFIX):
            self.end_fast(count)
        return count
