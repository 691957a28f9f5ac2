"""The warm parent: imports NumPy and the shims once, then forks a child for each bot.

The host holds the other end of a `SOCK_SEQPACKET` socket. A request is one packet of JSON with three descriptors
(the bot's input, output and log):

    {"id": 1, "game": "colour-battle", "target": "/bots/steve.py:Steve", "root": null, "policy": {...}}

The reply is `{"id": 1, "pid": 4711}` with a pidfd, or `{"id": 1, "error": "..."}`. When a child has ended:
`{"exited": 4711, "status": 9}`, the wait status. A child puts up its walls (`enter`) before it opens the bot's
file. This process never reads one, so that a child inherits nothing of another bot.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
from typing import Any, Dict, List

from .channel import flush, private
from .enter import EnterError, enter
from .loading import Target
from .session import Session

LARGEST = 1 << 20
PLAIN = (
    *("bisect", "collections", "copy", "enum", "functools", "heapq", "itertools", "json", "math", "operator", "queue"),
    *("random", "re", "statistics", "string", "time", "typing", "agon_bot.stateless", "agon_bot.games.connect"),
)
"""What bots import most, loaded once for all of them."""
WITH_NUMPY = (
    *("dataclasses", "numpy", "numpy.random", "numpy.linalg"),
    *("agon_bot.games.colour", "agon_bot.games.hide", "agon_bot.library.map"),
)
"""What a plain parent leaves out. A Solitude bot is forked for each call, and every page it does not have is a page
not copied: its parent is better plain."""


def warm_up(plain: bool) -> None:
    """Imports what bots import. NumPy may be missing: then only bots that need it are refused."""
    for name in PLAIN if plain else PLAIN + WITH_NUMPY:
        try:
            __import__(name)
        except ImportError:
            pass


class Zygote:
    """Forks bots on request."""

    def __init__(self, control: socket.socket) -> None:
        self.control = control
        self.pidfds: Dict[int, int] = {}

    def serve(self) -> int:
        """Until the host hangs up. Then every child still alive is killed."""
        woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        gc.collect()
        gc.freeze()
        poller = select.poll()
        for descriptor in (woken, self.control.fileno()):
            poller.register(descriptor, select.POLLIN)
        try:
            while True:
                ready = [descriptor for descriptor, _ in poller.poll()]
                if woken in ready:
                    os.read(woken, 4096)
                    self.reap()
                if self.control.fileno() in ready and not self.request():
                    return 0
        finally:
            for pid in self.pidfds:
                os.kill(pid, signal.SIGKILL)

    def reap(self) -> None:
        """Tells the host which children have ended."""
        while self.pidfds:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            os.close(self.pidfds.pop(pid))
            self.tell({"exited": pid, "status": status})

    def request(self) -> bool:
        """Serves one request; false when the host has gone."""
        try:
            data, descriptors, _, _ = socket.recv_fds(self.control, LARGEST, 8)
        except ConnectionResetError:
            return False
        if not data:
            return False
        number: Any = None
        try:
            order = json.loads(data)
            number = order.get("id")
            if len(descriptors) != 3:
                raise ValueError("a request comes with three descriptors: input, output, log")
            self.fork(order, descriptors)
        except (ValueError, KeyError, AttributeError, OSError) as error:
            self.tell({"id": number, "error": f"{type(error).__name__}: {error}"})
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        return True

    def fork(self, order: Dict[str, Any], descriptors: List[int]) -> None:
        """Forks a child for a bot."""
        game, target = str(order["game"]), str(order["target"])
        pid = os.fork()
        if pid == 0:
            code = 3
            try:
                self.control.close()
                for other in self.pidfds.values():
                    os.close(other)
                code = live(game, target, order, descriptors)
            finally:
                os._exit(code)
        self.pidfds[pid] = os.pidfd_open(pid)
        self.tell({"id": order.get("id"), "pid": pid}, [self.pidfds[pid]])

    def tell(self, message: Dict[str, Any], descriptors: List[int] = []) -> None:  # noqa: B006 - never changed
        """Sends the host a packet. That it has gone shows at the next read."""
        try:
            socket.send_fds(self.control, [json.dumps(message).encode()], descriptors)
        except OSError:
            pass


def live(game: str, target: str, order: Dict[str, Any], descriptors: List[int]) -> int:
    """In the child: its own signals, group, descriptors and walls; then the bot."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    os.dup2(descriptors[2], 2)
    os.close(descriptors[2])
    channel = private(descriptors[0], descriptors[1])
    os.closerange(3, min(channel.read_from, channel.write_to))
    try:
        enter(order.get("policy") or {})
    except EnterError as error:
        channel.receive_line()  # the hello this is the answer to
        channel.send({"id": 1, "error": {"what": f"the sandbox cannot be entered: {error}", "hint": "see agon doctor"}})
        return 3
    for name in ("seed", "stateless"):
        if order.get(name) is not None:
            os.environ[f"AGON_{name.upper()}"] = str(order[name])
    if order.get("root"):
        os.environ["AGON_ROOT"] = str(order["root"])
    code = Session(channel, game, Target.parse(target)).run()
    flush()
    return code
