"""Tries to be woken while it is paused: timers, owners of descriptors, dying parents, delayed signals.

Must happen: every way to get a SIGCONT later is refused."""

import ctypes
import fcntl
import os
import signal

from attack import Attacker, call, refused


class Bot(Attacker):
    def attack(self):
        event = ctypes.create_string_buffer(bytes(8) + int(signal.SIGCONT).to_bytes(4, "little") + bytes(52), 64)
        refused("a timer", lambda: call(222, 1, event, ctypes.create_string_buffer(8)))
        refused("a dying parent", lambda: call(157, 1, int(signal.SIGCONT), 0, 0, 0))
        read, write = os.pipe()
        refused("a descriptor", lambda: fcntl.fcntl(read, fcntl.F_SETOWN, os.getpid()))
        refused("its signal", lambda: fcntl.fcntl(read, 10, int(signal.SIGCONT)))
        refused("a lease", lambda: call(72, read, 1024, 0))
        refused("a new session", lambda: call(112))
        refused("a new group", lambda: os.setpgid(0, 0))
