"""Makes every kernel object that forks would share while it is loaded: pipes, sockets, counters, timers, watches,
memory files. Each call adds to all of them and looks for what the last one added.

Must happen: none can be made, or no call has it."""

import os
import socket

from attack import call, reached

NOWAIT = 0o4000
EVENTFD, TIMERFD, EPOLL, INOTIFY, MEMFD, USERFAULTFD = 290, 283, 291, 294, 319, 323


def made(make):
    try:
        return make()
    except OSError:
        return None


COUNTER = made(lambda: call(EVENTFD, 0, NOWAIT))
MEMORY = made(lambda: call(MEMFD, b"kept\0", 0))
PIPE = made(lambda: os.pipe2(NOWAIT))
PAIR = made(socket.socketpair)
OTHERS = [
    made(lambda: call(TIMERFD, 1, 0)),
    made(lambda: call(EPOLL, 0)),
    made(lambda: call(INOTIFY, 0)),
    made(lambda: call(USERFAULTFD, NOWAIT)),
]


def get_action(state, match_history):
    ways = {
        "a counter": (lambda: os.read(COUNTER, 8), lambda: os.write(COUNTER, (1).to_bytes(8, "little"))),
        "a memory file": (lambda: os.pread(MEMORY, 1, 0), lambda: os.pwrite(MEMORY, b"x", 0)),
        "a pipe": (lambda: os.read(PIPE[0], 1), lambda: os.write(PIPE[1], b"x")),
        "a pair of sockets": (lambda: PAIR[0].recv(1, socket.MSG_DONTWAIT), lambda: PAIR[1].send(b"x")),
    }
    for name, (look, leave) in ways.items():
        try:
            if look():
                reached(name)
        except (OSError, TypeError):
            pass
        try:
            leave()
        except (OSError, TypeError):
            pass
    return "LEFT"
