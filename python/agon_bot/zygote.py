"""The zygote, a fork server: imports NumPy and the games' modules once, then forks a child for each bot.

The sandbox's launcher holds the other end of a `SOCK_SEQPACKET` socket. A request is one packet of JSON with
descriptors, in this order: where the zygote reports about this bot, the bot's log, the two sockets of
`packet_channel.py`, with `turns` the pipe, with `namespaces` a pidfd of a process that is in them, with `group` the
folder of the bot's version 2 cgroup, and then the cgroup files to write `0` to.

    {"game": GAME, "target": "/bots/steve.py:Steve", "core": 1, ...the sandbox, see sandbox_enter.py}

Reports: `{"pid": 4711}`, then `"entered"` when the child is in its sandbox, or `{"failed": {"step", "reason"}}`;
`{"ended": status}` when the bot has ended. Its process id is not reused until the launcher closes its end. Then the bot
and its process group are killed, if they still run, and reaped.

A child enters its sandbox before it opens the bot's file. The zygote never reads a bot's file, so a child inherits
nothing of another bot.
"""

from __future__ import annotations

import gc
import os
import select

import _signal
import _socket

from . import memory_image
from .games import call_arguments, game_ids, game_part, has_python_api, lifetime
from .sandbox_enter import EnterError, adopt_orphans, enter, fork_into, setns, trim_heap
from .streams import isolate_streams
from .tinyjson import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Tuple

MAX_REQUEST_BYTES = 1 << 20
IGNORED = (_signal.SIGPIPE, _signal.SIGXFSZ)
"""Ignored as in every Python process: a write then fails with an exception."""
STATELESS_MODULES = ("agon_bot.stateless_session", "math", "random", "select")
"""Imported by the zygote for stateless bots. Such a bot forks for each call, and each fork copies pages of memory,
so this zygote imports little."""
COMMON_MODULES = (
    *("bisect", "collections", "copy", "enum", "functools", "heapq", "itertools", "json", "math", "operator", "queue"),
    *("random", "re", "statistics", "string", "time", "typing", "dataclasses", "agon_bot.forked_session"),
)
"""Imported by the zygote for all other bots: the modules that bots import most."""


def preloaded_modules(stateless: bool) -> List[str]:
    """The modules that a zygote imports before it forks, without duplicates."""
    games = [game for game in game_ids() if (lifetime(game) == "call") == stateless]
    of_games = [name for game in games for name in game_part(game, "PRELOADED_MODULES")]
    return list(dict.fromkeys([*(STATELESS_MODULES if stateless else COMMON_MODULES), *of_games]))


def learn_memory_use() -> None:
    """Finds out which memory of this process the calls of stateless bots do not need (`memory_image.py`)."""
    from .stateless_session import learn_memory_use as learn

    learn([call_arguments(game) for game in game_ids() if lifetime(game) == "call"])


def preload(stateless: bool) -> None:
    """Imports the modules that bots need. NumPy may be missing: then only bots that need it are rejected."""
    for name in preloaded_modules(stateless):
        try:
            __import__(name)
        except ImportError as error:
            if (error.name or "").split(".")[0] == "agon_bot":
                raise


class ForkedChild:
    """A bot's process."""

    def __init__(self, pid: int, reports: int) -> None:
        self.pid = pid
        self.reports = reports
        self.pidfd: Optional[int] = os.pidfd_open(pid)


class Zygote:
    """Forks bots on request."""

    def __init__(self, control: _socket.socket, stateless: bool = False) -> None:
        self.control = control
        self.stateless = stateless
        """Whether its bots run each call in a fork."""
        self.poller = select.poll()
        self.running: Dict[int, ForkedChild] = {}
        """Children that still run, by pidfd."""
        self.known: Dict[int, ForkedChild] = {}
        """All children, by the descriptor for reports about them."""

    def serve(self) -> int:
        """Serves requests until the launcher closes its end. Then kills every child that still runs."""
        try:
            # The process that started this one may have been pinned to a core.
            os.sched_setaffinity(0, range(os.cpu_count() or 1))
        except OSError:
            pass
        # Children in other namespaces, and what they leave, become children of this process.
        adopt_orphans()
        gc.collect()
        gc.freeze()
        trim_heap()
        if self.stateless:
            learn_memory_use()
        self.poller.register(self.control.fileno(), select.POLLIN)
        try:
            while True:
                for descriptor, _ in self.poller.poll():
                    if descriptor in self.running:
                        self.report_exit(descriptor)
                    elif descriptor in self.known:
                        self.kill_and_reap(descriptor)
                    elif descriptor == self.control.fileno() and not self.handle_request():
                        return 0
        finally:
            for reports in list(self.known):
                self.kill_and_reap(reports)

    def report_exit(self, pidfd: int) -> None:
        """Reports how a bot ended. It stays a zombie until the launcher closes its end."""
        forked = self.running.pop(pidfd)
        end = os.waitid(os.P_PIDFD, pidfd, os.WEXITED | os.WNOWAIT)
        self.poller.unregister(pidfd)
        os.close(pidfd)
        forked.pidfd = None
        exited = end is not None and end.si_code == os.CLD_EXITED
        status = 0 if end is None else end.si_status << 8 if exited else end.si_status
        send_report(forked.reports, {"ended": status})

    def kill_and_reap(self, reports: int) -> None:
        """Kills and reaps a bot, after the launcher has closed its end."""
        forked = self.known.pop(reports)
        self.poller.unregister(reports)
        if forked.pidfd is not None:
            self.poller.unregister(forked.pidfd)
            del self.running[forked.pidfd]
            os.close(forked.pidfd)
        # No process of a bot can leave its process group.
        for number in (-forked.pid, forked.pid):
            try:
                os.kill(number, _signal.SIGKILL)
            except OSError:
                pass
        try:
            while True:
                os.waitpid(-forked.pid, 0)
        except ChildProcessError:
            os.close(reports)

    def handle_request(self) -> bool:
        """Serves one request. Returns false when the launcher has closed its end."""
        try:
            data, descriptors = receive(self.control)
        except ConnectionResetError:
            return False
        if not data:
            return False
        reports = descriptors.pop(0) if descriptors else -1
        try:
            request = loads(data.decode())
            if len(descriptors) < 3 + (request["namespaces"] is not None) + bool(request.get("turns")):
                raise ValueError("a request comes with descriptors for reports, log, requests and answers")
            self.fork(request, reports, descriptors)
        except (ValueError, KeyError, TypeError, OSError) as error:
            send_report(reports, failed("forking the bot", error))
            if reports >= 0 and reports not in self.known:
                os.close(reports)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        return True

    def fork(self, request: Dict[str, Any], reports: int, descriptors: List[int]) -> None:
        """Forks a child for a bot, in the bot's namespaces if it has some."""
        log, *more = descriptors
        channels = [more.pop(0) for _ in range(3 if request.get("turns") else 2)]
        namespace_pidfd = more.pop(0) if request["namespaces"] is not None else None
        group = more.pop(0) if request.get("group") else None
        # Starting a process in a cgroup costs nothing. Moving one there costs milliseconds, so that is the second choice.
        # A process that was started so is not prepared as `os.fork` prepares one; it only forks the bot.
        start = None if group is None or namespace_pidfd is None else group
        read_pid, write_pid = os.pipe()
        # A process that enters a PID namespace stays outside itself; only its children are inside.
        between = os.fork() if start is None else fork_into(start)
        if between < 0:
            start, between = None, os.fork()
        if between == 0:
            code = 3
            try:
                os.close(read_pid)
                self.control.close()
                pid = 0
                try:
                    if group is not None and start is None:
                        join_group(group)
                    prepare(request, more)
                    if namespace_pidfd is not None:
                        setns(namespace_pidfd, request["namespaces"])
                        pid = os.fork()
                except OSError as error:
                    send_report(reports, failed("entering the namespaces", error))
                    os._exit(code)
                if pid or namespace_pidfd is None:
                    os.write(write_pid, str(pid or os.getpid()).encode())
                if pid == 0:
                    os.close(write_pid)
                    code = run_bot(request, reports, log, channels)
            except Exception as error:
                send_report(reports, failed("after the fork", error))
            finally:
                os._exit(code)
        os.close(write_pid)
        words = os.read(read_pid, 32)
        os.close(read_pid)
        if namespace_pidfd is not None or not words:
            os.waitpid(between, 0)
        if not words:
            os.close(reports)
            return
        forked = ForkedChild(int(words), reports)
        send_report(reports, {"pid": forked.pid})
        self.known[reports] = forked
        self.poller.register(reports, select.POLLIN)
        if forked.pidfd is not None:
            self.running[forked.pidfd] = forked
            self.poller.register(forked.pidfd, select.POLLIN)


def receive(control: _socket.socket) -> Tuple[bytes, List[int]]:
    """Receives a packet and its descriptors."""
    data, more, _, _ = control.recvmsg(MAX_REQUEST_BYTES, _socket.CMSG_LEN(4 * 32))
    descriptors: List[int] = []
    for level, kind, content in more:
        if level == _socket.SOL_SOCKET and kind == _socket.SCM_RIGHTS:
            descriptors += memoryview(content)[: len(content) // 4 * 4].cast("i").tolist()
    return data, descriptors


def send_report(reports: int, message: Any) -> None:
    """Sends a report. An error is ignored: `serve` sees a closed connection."""
    try:
        os.write(reports, dumps(message).encode())
    except OSError:
        pass


def failed(step: str, error: Exception) -> Dict[str, Any]:
    """The report about a bot that could not be started."""
    return {"failed": {"step": step, "reason": str(error)}}


def join_group(group: int) -> None:
    """Moves this process to the version 2 cgroup behind a descriptor."""
    file = os.open("cgroup.procs", os.O_WRONLY | os.O_CLOEXEC, dir_fd=group)
    try:
        os.write(file, b"0")
    finally:
        os.close(file)


def prepare(request: Dict[str, Any], cgroup_files: List[int]) -> None:
    """Does what must be done before the process leaves the host's namespaces."""
    try:
        # When memory runs out, the kernel kills a bot first.
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    except OSError:
        pass
    for cgroup_file in cgroup_files:
        os.write(cgroup_file, b"0")
    if request.get("core") is not None:
        os.sched_setaffinity(0, {request["core"]})
        # The host and all bots of a game share that core. Where the host asks many bots at once, they start when it has
        # asked all of them and waits: each switch to another process and back costs a tenth of a call.
        if request.get("together"):
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def run_bot(request: Dict[str, Any], reports: int, log: int, channels: List[int]) -> int:
    """In the child: makes its own session, sets up descriptors, enters the sandbox, then plays the bot. `channels` are
    the descriptors of `packet_channel.py`."""
    os.setsid()
    for number in range(1, 65):
        try:
            _signal.signal(number, _signal.SIG_IGN if number in IGNORED else _signal.SIG_DFL)
        except (OSError, ValueError):
            pass
    *channels, reports = isolate_streams(log, *channels, reports)
    # Empty in a zygote that has learned nothing.
    image = memory_image.create()
    try:
        enter(request)
    except EnterError as error:
        send_report(reports, failed("entering the sandbox", error))
        return 3
    send_report(reports, "entered")
    os.close(reports)
    try:
        game = str(request["game"])
        # A game without a Python API is reported by the session in its reply to hello.
        if has_python_api(game) and lifetime(game) == "call":
            from .stateless_session import play as play_stateless

            return play_stateless(request, *channels, image)
        from .forked_session import play

        return play(request, *channels)
    except Exception as error:
        # The descriptor for reports is closed, so the reason goes to the log.
        os.write(2, f"the bot's process fails: {type(error).__name__}: {error}\n".encode("utf-8", "replace"))
        return 3
