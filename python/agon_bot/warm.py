"""The conversation with a host that forked this process (see `zygote.py`), by packets.

The bot is loaded once and then plays many games. That none of them can leave anything behind for the next is seen to
by forks of this process, which itself never runs a move: a fork for each game where a bot's memory lasts for a game.
Where it lasts for a match this process plays itself, and ends with the match. (Where it lasts for a call: `lean.py`.)

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
from .remains import how_it_ended
from .games.base import Message, Shim
from .loading import Target
from .packets import HEADER, TURN, Packets
from .session import Session
from .tinyjson import dumps

# Kept by name: a bot may replace them where it finds them.
_fork, _exit, _waitpid = os.fork, os._exit, os.waitpid
_write, _set_blocking = os.write, os.set_blocking
_thread_count = _thread._count
# Python's own `os.fork` first sees to much that matters to threads only, and every page that it touches is copied.
_fork_as_it_is = ctypes.PyDLL(None).fork
_setrlimit = resource.setrlimit
_header = HEADER.unpack_from
_loads = json.loads

DONE = 77
"""The exit code of a fork that has done what it was for."""
NO_GAME = "its process for this game is gone"
HELLO_AGAIN, START, END = b'{"type":"hello","id":1,', b'{"type":"start",', b'{"type":"end",'
"""How the host's messages around a game begin."""
REHEARSALS = 20


def play(order: Dict[str, Any], asked: int, answers: int, turns: int = -1) -> int:
    """Plays the bot of an order. Returns the exit code."""
    packets = Packets(asked, answers, turns=turns)
    session = WarmSession(packets, str(order["game"]), Target.parse(str(order["target"])))
    code = session.run()
    flush()
    return code


def fork_for_a_game() -> int:
    """Forks: 0 in the fork, here its number."""
    child = -1 if _thread_count() else _fork_as_it_is()
    # With threads, or to have it say what is wrong.
    return child if child >= 0 else _fork()


def start_nothing() -> None:
    """From now on this process can start neither threads nor processes."""
    _setrlimit(resource.RLIMIT_NPROC, (0, 0))


class WarmSession(Session):
    """One bot, one host, from hello to the end."""

    def __init__(self, packets: Packets, game: str, target: Target) -> None:
        super().__init__(packets, game, target)  # type: ignore[arg-type]  # only its `send` is used
        self.packets = packets
        self.playing = False
        """This is the fork for a game."""
        self.started = False
        """The fork's game has begun."""
        self.ready = b""
        """What a loaded bot that plays its games in forks replies to the next hello."""
        self.waiting = select.poll()
        """Between games: for what comes by the pipe, and by the socket."""

    def run(self) -> int:
        """Talks until the host says bye or hangs up."""
        packets = self.packets
        while True:
            count = self.receive()
            if count == 0:
                return 0
            if packets.buffer[0] == TURN:
                self.turn()
                continue
            message = _loads(packets.view[:count].tobytes())
            kind = message.get("type")
            shim = self.shim
            if kind == "bye":
                if shim is not None:
                    shim.match_over(message)
                return 0
            if kind == "start" and shim is not None and shim.lives == "game":
                if (self.started or not self.playing) and not self.begin():
                    continue
                self.started = True
            if kind == "turn" and self.must_not_play():
                packets.send({"id": message.get("id"), "ended": NO_GAME})
                continue
            reply = self.reply(message)
            packets.send({**reply, "id": message.get("id")})
            if "error" in reply:
                return 2
            if kind == "end" and self.playing:
                flush()
                _exit(DONE)

    def receive(self) -> int:
        """Waits for a message that is not dealt with in one of the short ways, and says how long it is."""
        if self.plays_here():
            return self.turns()
        if self.ready:
            return self.between_games()
        return self.packets.receive()

    def between_games(self) -> int:
        """A loaded bot between games: forks for each, and says how long the first message is that is neither hello nor
        start; or, in a fork, that is dealt with in none of the short ways. After a fork every page that is touched costs a microsecond here, so that this
        process does next to nothing, and leaves all reading to the fork."""
        packets, ready, done = self.packets, self.ready, DONE << 8
        while True:
            count = self.receive_between()
            if count and packets.buffer.startswith(START):
                self.mend_streams()
                child = fork_for_a_game()
                if child == 0:
                    self.settle()
                    return self.turns() if self.started_shortly(count) else count
                status = _waitpid(child, 0)[1]
                if status != done:
                    self.tell_if_broken(status, None)
            elif count and packets.buffer.startswith(HELLO_AGAIN):
                # What is new to a loaded bot in it stands in the turns, too.
                _write(packets.answers, ready)
            else:
                return count

    def receive_between(self) -> int:
        """Waits for a message while no fork plays. By the pipe comes a turn at most, for a fork that has ended before its
        game. Whatever else is there was left by a fork, and the next one must not find it."""
        packets = self.packets
        while True:
            # What came by the pipe is named first.
            if self.waiting.poll()[0][0] != packets.turns:
                return packets.receive()
            count = packets.read_turn(packets.buffer)
            if not count or packets.buffer[0] == TURN:
                return count
            packets.buffer[:count] = bytes(count)

    def mend_streams(self) -> None:
        """Whether a descriptor waits is the same for all who have it: the last game may have changed that."""
        packets = self.packets
        for number in (0, 1, packets.asked, packets.answers, packets.turns):
            try:
                _set_blocking(number, True)
            except OSError:  # the bot has closed it, for itself
                pass

    def started_shortly(self, count: int) -> bool:
        """Begins the fork's game if its start is written as the host writes it, without all that reading JSON takes:
        each page of memory that is touched in a fork is copied first."""
        reply = self.begin_as_told(bytes(self.packets.view[:count]))
        if not reply:
            return False
        self.started = True
        _write(self.packets.answers, reply)
        return True

    def begin_as_told(self, text: bytes) -> bytes:
        """What `start` does, and the reply to it; nothing of it if this is not how the host writes it."""
        words = text.split(b'"')
        if len(words) != 13 or words[5] != b"id" or words[9] != b"seed" or not words[11].isdigit():
            return b""
        self.seed_game(int(words[11]))
        return b'{"id":' + words[6][1:-1] + b"}"

    def end_shortly(self, count: int) -> None:
        """Ends this fork with its game, if that is told as the host tells it: there is nothing to say to it."""
        reply = self.end_as_told(bytes(self.packets.view[:count]))
        if reply:
            _write(self.packets.answers, reply)
            flush()
            _exit(DONE)

    @staticmethod
    def end_as_told(text: bytes) -> bytes:
        """The reply to the end of a game, or nothing if this is not how the host writes it."""
        words = text.split(b'"')
        return b'{"id"' + words[6] if len(words) == 7 and words[5] == b"id" else b""

    def begin(self) -> bool:
        """Forks for a game. True in the fork; false here, when the game is over."""
        self.mend_streams()
        child = fork_for_a_game()
        if child == 0:
            self.settle()
            return True
        status = _waitpid(child, 0)[1]
        self.tell_if_broken(status, None)
        return False

    def settle(self) -> None:
        """This is the fork for a game from now on."""
        if self.shim is not None and self.shim.alone:
            start_nothing()
        self.playing = True
        self.started = False

    def plays_here(self) -> bool:
        """Whether turns are answered by this very process."""
        return self.shim is not None and not self.must_not_play()

    def must_not_play(self) -> bool:
        """Whether a move here would be there in every later game: a fork can end, as if its game were over, before it
        is."""
        return self.shim is not None and self.shim.lives == "game" and not self.playing

    def tell_if_broken(self, status: int, number: Optional[int]) -> None:
        """Tells the host if a fork ended in a way it should not."""
        if status != DONE << 8:
            self.packets.send({"id": number or 0, "ended": how_it_ended(status)})

    def hello(self, message: Message) -> Message:
        if self.shim is not None:
            self.shim.meet(message)
            return dict(self.about)
        self.about = super().hello(message)
        if self.shim is not None and "error" not in self.about:
            if self.shim.lives == "game":
                self.rehearse(self.shim)
                for number in (self.packets.turns, self.packets.asked):
                    self.waiting.register(number, select.POLLIN)
                self.ready = dumps({**self.about, "id": 1}).encode("ascii")
            # What exists now is shared with every fork; the collector need not look at it again.
            gc.collect()
            gc.freeze()
        return self.about

    def rehearse(self, shim: Shim) -> None:
        """Does our own part of a game a few times before there is one. What Python and NumPy rewrite or set up when a
        thing is done for the first time need not be copied in every fork then. None of the bot's code is run."""
        try:
            for _ in range(REHEARSALS):
                self.begin_as_told(b'{"type":"start","id":2,"number":1,"seed":"1"}')
                shim.rehearse(self.packets)
                self.end_as_told(b'{"type":"end","id":3}')
        except BaseException:  # whatever the bot has put in something's place: its games will tell
            pass
        shim.start({})

    def turn(self) -> None:
        """A turn in the game's short form that is not answered by this process."""
        packets, shim = self.packets, self.shim
        number = _header(packets.buffer)[0]
        if shim is None:
            return
        packets.send({"id": number, "ended": NO_GAME})
        # It may have been written by a fork, and the next one must not find it.
        packets.buffer[:] = bytes(len(packets.buffer))

    def turns(self) -> int:
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
        if self.playing and packets.buffer.startswith(END):
            self.end_shortly(count)
        return count
