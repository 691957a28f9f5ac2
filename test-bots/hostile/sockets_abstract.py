"""Connects to a socket in the abstract name space, which no file permission protects, with every kind of socket.

Must happen: refused."""

import socket

from attack import TARGETS, Attacker, refused


def connect(name):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        try:
            one = socket.socket(socket.AF_UNIX, kind)
            one.connect("\0" + name)
            return name
        except OSError:
            pass
    # A pair is allowed; it must not be connected to another socket.
    one, _ = socket.socketpair()
    one.sendto(b"x", "\0" + name)
    return name


class Bot(Attacker):
    def attack(self):
        refused("a name", lambda: connect(TARGETS["abstract"]))
        pair = lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b"x", "\0" + TARGETS["abstract"])
        refused("by a pair of datagrams", pair)
