"""Keeps state in its sockets: it shuts them down for reading, so that the next call reads their end.

Must happen: the next call has other sockets, or none can be shut down."""

import socket

from attack import pipes, reached

PEEK = socket.MSG_PEEK | socket.MSG_DONTWAIT


def get_action(state, match_history):
    for number in pipes():
        end = socket.socket(fileno=number)
        try:
            if end.recv(1, PEEK) == b"":
                reached("a socket that was shut down", number)
        except OSError:
            pass
        try:
            end.shutdown(socket.SHUT_RD)
        except OSError:
            pass
        end.detach()
    return "LEFT"
