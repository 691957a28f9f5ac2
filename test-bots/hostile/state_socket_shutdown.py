"""Keeps state in its sockets: it shuts them down for reading, so that the next call reads their end.

Must happen: the next call has other sockets."""

import socket

from attack import pipes, reached

PEEK = socket.MSG_PEEK | socket.MSG_DONTWAIT


def get_action(state, match_history):
    for number in pipes():
        end = socket.socket(fileno=number)
        try:
            # Without a shutdown there is nothing to read yet, or the other end is closed.
            if end.recv(1, PEEK) == b"" and end.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0:
                try:
                    end.send(b"", socket.MSG_DONTWAIT)
                except BrokenPipeError:
                    reached("a socket that was shut down", number)
                except OSError:
                    pass
        except OSError:
            pass
        try:
            if match_history == []:
                end.shutdown(socket.SHUT_RDWR) if number != max(pipes()) else None
        except OSError:
            pass
        end.detach()
    return "LEFT"
