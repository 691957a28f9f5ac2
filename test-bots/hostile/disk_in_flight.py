"""Fills deleted files in `data` and sends their descriptors through a socket without receiving them, up to 128 MiB.
No process has them then.

Must happen: sending descriptors is refused."""

import array
import os
import socket

from attack import DATA, Attacker, held


class Bot(Attacker):
    def attack(self):
        ours, _theirs = socket.socketpair()
        for count in range(1, 33):
            file = os.open("data/gone", os.O_CREAT | os.O_RDWR)
            os.unlink("data/gone")
            os.write(file, bytes(4 << 20))
            try:
                ours.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file]))])
            except OSError:
                os.close(file)
                return
            os.close(file)
            held("deleted files on their way", count * 4, DATA)
