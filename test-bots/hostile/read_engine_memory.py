"""Reads and writes the memory of the engine, of the launcher and of another process, and of the process that has loaded
the bot, whose forks play its matches.

Must happen: none of them can be opened, read by a system call, or even found. The bot's own process may be found."""

import ctypes
import os

from attack import TARGETS, Attacker, call, read, refused


LOADER = os.getpid()
LINKS = ("root", "cwd", "exe")


class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


class Bot(Attacker):
    def attack(self):
        room = ctypes.create_string_buffer(64)
        here, there = Piece(ctypes.addressof(room), 64), Piece(0x400000, 64)
        for pid in {TARGETS["victim"], os.getppid(), LOADER, 1} - {0, os.getpid()}:
            for name in ("mem", "environ", "maps", "auxv", "stack", "syscall", *LINKS):
                path = f"/proc/{pid}/{name}"
                if name in LINKS and pid == LOADER:
                    continue
                refused(path, lambda: os.readlink(path) if name in LINKS else read(path))
            refused(f"reading {pid}", lambda: call(310, pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0))
            refused(f"writing {pid}", lambda: call(311, pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0))
