"""The warm parent: imports NumPy and the shims once, then forks a child for each bot.

Whoever wants a bot (the sandbox's launcher) holds the other end of a `SOCK_SEQPACKET` socket. A request is one packet
of JSON with descriptors: where the parent's news about this bot go, the bot's log, the two sockets of `packets.py`, with
`turns` the pipe, with `namespaces` a pidfd of a process that is in them, and then files to write `0` to (doors of cgroups).

    {"game": "colour-battle", "target": "/bots/steve.py:Steve", "core": 1, ...the walls, see enter.py}

News: `{"pid": 4711}`, then `"entered"` when all walls are up or `{"failed": {"step", "reason"}}`; `{"ended": status}`
when the bot has ended. Its number is kept from being used again until the asker hangs up; then it is killed, if it is
still there, with all of its group, and reaped.

A child puts up its walls before it opens the bot's file. This process never reads one, so that a child inherits
nothing of another bot.
"""

from __future__ import annotations

import gc
import os
import select

import _signal
import _socket

from .enter import EnterError, adopt_orphans, enter, give_back_memory, step_into
from .streams import mute
from .tinyjson import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Tuple

LARGEST = 1 << 20
IGNORED = (_signal.SIGPIPE, _signal.SIGXFSZ)
"""Like in every Python: writing then fails with an exception."""
PLAIN = ("agon_bot.lean", "math", "random")
"""What Solitude's bots import, loaded once for all of them. A Solitude bot is forked for each call, and every page it
does not have is a page not copied: its parent has little else."""
COMMON = (
    *("bisect", "collections", "copy", "enum", "functools", "heapq", "itertools", "json", "math", "operator", "queue"),
    *("random", "re", "statistics", "string", "time", "typing", "dataclasses", "agon_bot.warm", "agon_bot.games.connect"),
    *("numpy", "numpy.random", "numpy.linalg", "agon_bot.games.colour", "agon_bot.games.hide", "agon_bot.library.map"),
)
"""What the other bots import most."""


def warm_up(plain: bool) -> None:
    """Imports what bots import. NumPy may be missing: then only bots that need it are refused."""
    for name in PLAIN if plain else COMMON:
        try:
            __import__(name)
        except ImportError:
            pass


class Forked:
    """A bot that was forked."""

    def __init__(self, pid: int, news: int) -> None:
        self.pid = pid
        self.news = news
        self.pidfd: Optional[int] = os.pidfd_open(pid)


class Zygote:
    """Forks bots on request."""

    def __init__(self, control: _socket.socket) -> None:
        self.control = control
        self.poller = select.poll()
        self.running: Dict[int, Forked] = {}
        """By pidfd."""
        self.known: Dict[int, Forked] = {}
        """By the descriptor of its news."""

    def serve(self) -> int:
        """Until nobody holds the other end any more. Then every child still alive is killed."""
        try:
            # Whoever started this process may have been on a core of its own.
            os.sched_setaffinity(0, range(os.cpu_count() or 1))
        except OSError:
            pass
        # What a child in other namespaces leaves, and that child itself, comes here.
        adopt_orphans()
        gc.collect()
        gc.freeze()
        give_back_memory()
        self.poller.register(self.control.fileno(), select.POLLIN)
        try:
            while True:
                for descriptor, _ in self.poller.poll():
                    if descriptor in self.running:
                        self.tell_end(descriptor)
                    elif descriptor in self.known:
                        self.bury(descriptor)
                    elif descriptor == self.control.fileno() and not self.request():
                        return 0
        finally:
            for news in list(self.known):
                self.bury(news)

    def tell_end(self, pidfd: int) -> None:
        """A bot has ended: says how. It stays a zombie for now."""
        forked = self.running.pop(pidfd)
        end = os.waitid(os.P_PIDFD, pidfd, os.WEXITED | os.WNOWAIT)
        self.poller.unregister(pidfd)
        os.close(pidfd)
        forked.pidfd = None
        exited = end is not None and end.si_code == os.CLD_EXITED
        status = 0 if end is None else end.si_status << 8 if exited else end.si_status
        tell(forked.news, {"ended": status})

    def bury(self, news: int) -> None:
        """Nobody asks for this bot any more."""
        forked = self.known.pop(news)
        self.poller.unregister(news)
        if forked.pidfd is not None:
            self.poller.unregister(forked.pidfd)
            del self.running[forked.pidfd]
            os.close(forked.pidfd)
        # Nothing of a bot's can leave its group.
        for number in (-forked.pid, forked.pid):
            try:
                os.kill(number, _signal.SIGKILL)
            except OSError:
                pass
        try:
            while True:
                os.waitpid(-forked.pid, 0)
        except ChildProcessError:
            os.close(news)

    def request(self) -> bool:
        """Serves one request; false when nobody can ask any more."""
        try:
            data, descriptors = receive(self.control)
        except ConnectionResetError:
            return False
        if not data:
            return False
        news = descriptors.pop(0) if descriptors else -1
        try:
            order = loads(data.decode())
            if len(descriptors) < 3 + (order["namespaces"] is not None) + bool(order.get("turns")):
                raise ValueError("a request comes with descriptors for news, log, asking and answering")
            self.fork(order, news, descriptors)
        except (ValueError, KeyError, TypeError, OSError) as error:
            tell(news, failed("forking the bot", error))
            if news >= 0 and news not in self.known:
                os.close(news)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        return True

    def fork(self, order: Dict[str, Any], news: int, descriptors: List[int]) -> None:
        """Forks a child for a bot, into its namespaces if it has some."""
        log, *more = descriptors
        ways = [more.pop(0) for _ in range(3 if order.get("turns") else 2)]
        world = more.pop(0) if order["namespaces"] is not None else None
        read_pid, write_pid = os.pipe()
        # Only a fork of one that has stepped into a process namespace is in it.
        between = os.fork()
        if between == 0:
            code = 3
            try:
                os.close(read_pid)
                self.control.close()
                pid = 0
                try:
                    prepare(order, more)
                    if world is not None:
                        step_into(world, order["namespaces"])
                        pid = os.fork()
                except OSError as error:
                    tell(news, failed("stepping into the namespaces", error))
                    os._exit(code)
                if pid or world is None:
                    os.write(write_pid, str(pid or os.getpid()).encode())
                if pid == 0:
                    os.close(write_pid)
                    code = live(order, news, log, ways)
            except Exception as error:
                tell(news, failed("after the fork", error))
            finally:
                os._exit(code)
        os.close(write_pid)
        words = os.read(read_pid, 32)
        os.close(read_pid)
        if world is not None or not words:
            os.waitpid(between, 0)
        if not words:
            os.close(news)
            return
        forked = Forked(int(words), news)
        tell(news, {"pid": forked.pid})
        self.known[news] = forked
        self.poller.register(news, select.POLLIN)
        if forked.pidfd is not None:
            self.running[forked.pidfd] = forked
            self.poller.register(forked.pidfd, select.POLLIN)


def receive(control: _socket.socket) -> Tuple[bytes, List[int]]:
    """A packet and the descriptors that came with it."""
    data, more, _, _ = control.recvmsg(LARGEST, _socket.CMSG_LEN(4 * 32))
    descriptors: List[int] = []
    for level, kind, content in more:
        if level == _socket.SOL_SOCKET and kind == _socket.SCM_RIGHTS:
            descriptors += memoryview(content)[: len(content) // 4 * 4].cast("i").tolist()
    return data, descriptors


def tell(news: int, message: Any) -> None:
    """Sends news. That nobody hears them shows elsewhere."""
    try:
        os.write(news, dumps(message).encode())
    except OSError:
        pass


def failed(step: str, error: Exception) -> Dict[str, Any]:
    """News of a bot that could not be made."""
    return {"failed": {"step": step, "reason": str(error)}}


def prepare(order: Dict[str, Any], doors: List[int]) -> None:
    """What has to be done before the outside is out of sight."""
    try:
        # When memory runs out, a bot goes before anything that matters.
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    except OSError:
        pass
    for door in doors:
        os.write(door, b"0")
    if order.get("core") is not None:
        os.sched_setaffinity(0, {order["core"]})
        # The host and all bots of a game share that core. Where many are asked at once, they begin when the host has asked
        # all of them and waits, not in the midst of it: each change to another process and back costs a tenth of a call.
        if order.get("together"):
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def live(order: Dict[str, Any], news: int, log: int, ways: List[int]) -> int:
    """In the child: its own session, descriptors and walls; then the bot. `ways` are those of `packets.py`."""
    os.setsid()
    for number in range(1, 65):
        try:
            _signal.signal(number, _signal.SIG_IGN if number in IGNORED else _signal.SIG_DFL)
        except (OSError, ValueError):
            pass
    *ways, news = mute(log, *ways, news)
    try:
        enter(order)
    except EnterError as error:
        tell(news, failed("entering the sandbox", error))
        return 3
    tell(news, "entered")
    os.close(news)
    forgets = order["game"] == "solitude-scramble"
    try:
        if forgets:
            from .lean import play as play_lean

            return play_lean(order, *ways)
        from .warm import play

        return play(order, *ways)
    except Exception as error:
        # The news are closed; this way the log says why the bot ended.
        os.write(2, f"the bot's process fails: {type(error).__name__}: {error}\n".encode("utf-8", "replace"))
        return 3
