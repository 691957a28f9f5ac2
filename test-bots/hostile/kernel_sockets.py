"""Fills the buffers of 100 pairs of sockets in each of 16 processes, beside 256 MiB of memory: more than 800
MiB together.

Must happen: the buffers are counted, and the bot is killed within a tenth of the limit, or cannot start the
processes."""

import os
import socket
import time

from attack import MEMORY, Attacker, held


def fill(write):
    """Fills pairs of sockets in both directions, and reports each pair."""
    kept = []
    for _ in range(100):
        pair = socket.socketpair()
        kept.append(pair)
        for one in pair:
            one.setblocking(False)
            try:
                while True:
                    one.send(bytes(1024))
            except OSError:
                pass
        os.write(write, b"x")
    return kept


class Bot(Attacker):
    def attack(self):
        taken = bytearray(b"x") * (256 << 20)
        read, write = os.pipe()
        for _ in range(16):
            try:
                child = os.fork()
            except OSError:
                break
            if child == 0:
                try:
                    kept = fill(write)
                    time.sleep(2)
                    del kept
                finally:
                    os._exit(0)
        os.close(write)
        pieces = 0
        while os.read(read, 1):
            pieces += 1
            # What the kernel takes for the buffers of a full pair.
            held("memory and buffers of sockets", 256 + pieces * 0.4, MEMORY)
        del taken
