"""Uses netlink, packet sockets, vsock and every other address family.

Must happen: there is none."""

import socket

from attack import Attacker, refused


class Bot(Attacker):
    def attack(self):
        refused("netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))
        refused("packets", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
        refused("vsock", lambda: socket.socket(40, socket.SOCK_STREAM))
        for family in range(64):
            for kind in (1, 2, 3, 5):
                refused(f"family {family}", lambda: socket.socket(family, kind))
