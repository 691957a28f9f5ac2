"""Reads from every descriptor that it has inherited, to steal messages from the host or from others.

Must happen: at most its own next message is lost."""

import os

from attack import Attacker, TARGETS, reached


class Bot(Attacker):
    def attack(self):
        for descriptor in range(3, 1024):
            try:
                os.set_blocking(descriptor, False)
                data = os.read(descriptor, 1 << 16)
            except OSError:
                continue
            if b"secret" in data:
                reached("another process's message", data)
            try:
                os.set_blocking(descriptor, True)
            except OSError:
                pass
